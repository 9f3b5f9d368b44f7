#!/usr/bin/env bash
# Everything that is measured on a GPU, in less than ten minutes: bash experiments/device.sh FOLDER
#
# PYTHON names the interpreter (default: python3). Finished parts are kept in FOLDER, and the same
# command continues. Results: FOLDER/device/results.json, FOLDER/*.json and the trained networks.
set -uo pipefail
out=${1:?"name a folder for the results"}
python=${PYTHON:-python3}
mkdir -p "$out"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,memory.total --format=csv
# 1. Equality with the CPU, and steps per second.
timeout 240 "$python" -m experiments.device --out "$out/device"
# 2. PPO on the device, and with environments on the CPU.
ppo=("$python" -m agents.ppo_device --num-envs 65536 --batch-size 65536 --epochs 1 --evaluations 1)
timeout 60 "${ppo[@]}" --steps 50000000 --report "$out/ppo-device.json" --out "$out/ppo-device"
timeout 60 "${ppo[@]}" --steps 20000000 --report "$out/ppo-cpu.json" --out "$out/ppo-cpu" \
    --environment cpu
# 3. Seconds to an exact score of 99, in both seats.
for seat in caster dispeller; do
    timeout 60 "$python" -m agents.ppo_device --seat "$seat" --num-envs 16384 --batch-size 8192 \
        --steps 20000000 --evaluations 100 --until 99 \
        --report "$out/until-$seat.json" --out "$out/until-$seat"
done
# 4. The score after a billion decisions.
timeout 120 "${ppo[@]}" --bfloat16 --steps 1000000000 --evaluations 10 \
    --report "$out/billion.json" --out "$out/billion"
