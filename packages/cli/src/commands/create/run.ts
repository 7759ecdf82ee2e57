// Runs an image in a pod.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { createFlags, makeOne } from '../create-one.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { labelsIn } from '../label-words.js'
import { tellResults } from '../results.js'

const restarts = ['Always', 'OnFailure', 'Never']
const pulls = ['Always', 'IfNotPresent', 'Never']
const attached = 'nobody is attached to what runs here: leave it out, and use "clusterctl exec -it" or "clusterctl logs -f" afterwards'

export const command = defineCommand({
  usage: 'run NAME --image=IMAGE [--port=PORT] [--env=NAME=VALUE…] [flags] [-- ARGUMENT…]',
  about: 'run an image in a pod',
  examples: ['run web --image=nginx --port=80 --expose', 'run once --image=busybox --restart=Never --command -- sleep 5'],
  flags: {
    ...createFlags,
    image: { kind: 'text', help: 'the image of the container' },
    'image-pull-policy': { kind: 'text', help: 'Always, IfNotPresent or Never' },
    port: { kind: 'text', help: 'the port that it listens on' },
    expose: { kind: 'switch', help: 'with a service for the port' },
    env: { kind: 'list', help: 'NAME=VALUE' },
    labels: { kind: 'text', short: 'l', help: 'of the pod, instead of run=NAME: a=b,c=d' },
    annotations: { kind: 'list', help: 'of the pod: NAME=VALUE' },
    restart: { kind: 'text', initial: 'Always', help: 'Always, OnFailure or Never' },
    command: { kind: 'switch', help: 'what stands behind -- is the command, and not its arguments' },
    privileged: { kind: 'switch', help: 'the container may do what the node may' },
    attach: { kind: 'switch', help: 'refused: see exec and logs' },
    stdin: { kind: 'switch', short: 'i', help: 'refused: see exec' },
    tty: { kind: 'switch', short: 't', help: 'refused: see exec' },
    rm: { kind: 'switch', help: 'refused: see delete' },
  },
  run: async (work) => {
    const { args, rest, flags, io } = work
    const [name, ...more] = args
    const { image, restart = 'Always', 'image-pull-policy': pull } = flags
    for (const flag of ['attach', 'stdin', 'tty', 'rm'] as const) if (flags[flag]) throw new UsageError(`--${flag}: ${attached}`)
    if (image === undefined) throw new UsageError('required flag(s) "image" not set')
    if (name === undefined) throw new UsageError('NAME is required for run')
    if (!/^\S+$/.test(image)) throw new Failure(`Invalid image name "${image}": invalid reference format`)
    if (!restarts.includes(restart)) throw new UsageError(`invalid restart policy: ${restart}`)
    if (pull !== undefined && !pulls.includes(pull)) throw new UsageError(`invalid image pull policy: ${pull}`)
    const port = flags.port === undefined ? undefined : portIn(flags.port)
    if (flags.expose && port === undefined) throw new UsageError('--port must be set when exposing a service')
    const words = [...more, ...(rest ?? [])]
    const labels = flags.labels === undefined ? { run: name } : labelsIn(flags.labels)
    const container = {
      name,
      image,
      ...(pull === undefined ? {} : { imagePullPolicy: pull }),
      ...(words.length === 0 ? {} : flags.command ? { command: words } : { args: words }),
      ...(flags.env.length === 0 ? {} : { env: flags.env.map(variableIn) }),
      ...(port === undefined ? {} : { ports: [{ containerPort: port }] }),
      ...(flags.privileged ? { securityContext: { privileged: true } } : {}),
    }
    const annotations = flags.annotations.length === 0 ? {} : { annotations: labelsIn(flags.annotations.join(',')) }
    const pod: DynamicObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels, ...annotations },
      spec: { containers: [container], restartPolicy: restart, dnsPolicy: 'ClusterFirst' },
    }
    const made = [await makeOne(pod, work)]
    if (flags.expose)
      made.unshift(
        await makeOne(
          {
            apiVersion: 'v1',
            kind: 'Service',
            metadata: { name },
            spec: { ports: [{ port, protocol: 'TCP', targetPort: port }], selector: labels },
          },
          work,
        ),
      )
    tellResults(made, flags, io)
    return 0
  },
})

function portIn(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new UsageError(`--port takes a number, not "${text}"`)
  return Number(text)
}

function variableIn(text: string): { readonly name: string; readonly value: string } {
  const equals = text.indexOf('=')
  if (equals <= 0) throw new Failure(`invalid env: ${text}`)
  return { name: text.slice(0, equals), value: text.slice(equals + 1) }
}
