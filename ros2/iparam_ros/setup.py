"""The ament package: each executable is a line that calls the library."""

from glob import glob

from setuptools import setup

NAME = "iparam_ros"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", sorted(glob("launch/*.launch.py"))),
        (f"share/{NAME}/config", sorted(glob("config/*.yaml"))),
    ],
    install_requires=["setuptools", "iparam"],
    zip_safe=True,
    maintainer="The iparam maintainers",
    description="ROS 2 nodes of iparam",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            f"kinematics = {NAME}.kinematics:main",
            f"identify = {NAME}.identify:main",
            f"identify_lifecycle = {NAME}.identify_lifecycle:main",
            f"play = {NAME}.play:main",
            f"compensate = {NAME}.compensate:main",
        ]
    },
)
