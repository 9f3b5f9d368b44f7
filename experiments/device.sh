#!/usr/bin/env bash
# Everything that is measured on a GPU: bash experiments/device.sh FOLDER
#
# PYTHON names the interpreter (default: python3). The same command continues after an interruption.
# Results: FOLDER/device/results.json, FOLDER/*.json and the trained networks. It takes about ten
# minutes, and more if the kernels are not compiled yet.
set -uo pipefail
out=$(realpath -m "${1:?"name a folder for the results"}")
python=${PYTHON:-python3}
mkdir -p "$out"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

train() { # NAME SECONDS ARGUMENTS: skip a finished run, and continue an interrupted one
    local name=$1 seconds=$2 resume=
    shift 2
    [ -e "$out/$name.json" ] && return
    [ -e "$out/$name/checkpoint.pt" ] && resume=--resume
    timeout --signal=INT "$seconds" "$python" -m agents.ppo_device --opponent veteran "$@" \
        --out "$out/$name" --report "$out/$name.json" $resume
}

nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,memory.total --format=csv
# 1. Equality with the CPU, and steps per second.
timeout --signal=INT 300 "$python" -m experiments.device --out "$out/device"
# 2. PPO with environments on the GPU, and on the CPU.
large=(--num-envs 65536 --batch-size 65536 --epochs 1 --evaluations 1)
train ppo-device 60 "${large[@]}" --steps 50000000
train ppo-cpu 60 "${large[@]}" --steps 20000000 --environment cpu
# 3. Seconds to an exact score of 99, in both seats.
small=(--num-envs 16384 --batch-size 8192 --steps 20000000 --evaluations 100 --until 99)
for seat in caster dispeller; do
    train "until-$seat" 60 "${small[@]}" --seat "$seat"
done
# 4. The score after a billion decisions.
train billion 120 "${large[@]}" --steps 1000000000 --evaluations 10 --bfloat16
