"""One module a family of hypotheses about how data came about; `iparam.estimation.causes.search` lists them all."""
