# docker build -t iparam . && docker run --rm iparam            the demo
# docker run --rm -v "$PWD:/data" -w /data iparam iparam identify payload run.parquet
FROM python:3.12-slim

COPY . /source
RUN pip install --no-cache-dir -c /source/requirements.lock '/source[mujoco,plot]' && rm -rf /source

RUN useradd --create-home iparam
USER iparam
WORKDIR /home/iparam

CMD ["iparam", "demo"]
