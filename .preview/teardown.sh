#!/bin/sh
# The state directory lies in PENV_DATA, which goes with the environment.
set -eu
