// `run`: creates a pod with one container.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { createFlags, createObject, parseLabels, parsePort } from '../../objects/create-object.js'
import { printResults } from '../../objects/write-results.js'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const attachError = 'attaching is not supported: omit the flag and use "clusterctl exec -it" or "clusterctl logs -f" afterwards'

export const command = defineCommand({
  usage: 'run NAME --image=IMAGE [--port=PORT] [--env=NAME=VALUE…] [flags] [-- ARGUMENT…]',
  examples: ['run web --image=nginx --port=80 --expose', 'run once --image=busybox --restart=Never --command -- sleep 5'],
  flags: {
    ...createFlags,
    image: { kind: 'text', help: 'image of the container' },
    'image-pull-policy': { kind: 'text', help: 'Always, IfNotPresent or Never' },
    port: { kind: 'text', help: 'container port' },
    expose: { kind: 'switch', help: 'also create a service for --port' },
    env: { kind: 'list', help: 'NAME=VALUE' },
    labels: { kind: 'text', short: 'l', help: 'labels of the pod: a=b,c=d; default: run=NAME' },
    annotations: { kind: 'list', help: 'annotations of the pod: NAME=VALUE' },
    restart: { kind: 'text', initial: 'Always', help: 'Always, OnFailure or Never' },
    command: { kind: 'switch', help: 'use the arguments after -- as command of the container' },
    privileged: { kind: 'switch', help: 'run a privileged container' },
    attach: { kind: 'switch', help: 'not supported; see exec and logs' },
    stdin: { kind: 'switch', short: 'i', help: 'not supported; see exec' },
    tty: { kind: 'switch', short: 't', help: 'not supported; see exec' },
    rm: { kind: 'switch', help: 'not supported; see delete' },
  },
  run: async (context) => {
    const { args, rest, flags, io } = context
    const [name, ...extraArgs] = args
    const { image, restart = 'Always', 'image-pull-policy': pullPolicy } = flags
    for (const flag of ['attach', 'stdin', 'tty', 'rm'] as const) if (flags[flag]) throw new UsageError(`--${flag}: ${attachError}`)
    if (image === undefined) throw new UsageError('required flag(s) "image" not set')
    if (name === undefined) throw new UsageError('NAME is required for run')
    if (!/^\S+$/.test(image)) throw new CommandError(`Invalid image name "${image}": invalid reference format`)
    if (!restartPolicies.includes(restart)) throw new UsageError(`invalid restart policy: ${restart}`)
    if (pullPolicy !== undefined && !pullPolicies.includes(pullPolicy)) throw new UsageError(`invalid image pull policy: ${pullPolicy}`)
    const port = flags.port === undefined ? undefined : parsePort(flags.port)
    if (flags.expose && port === undefined) throw new UsageError('--port must be set when exposing a service')
    const commandArgs = [...extraArgs, ...(rest ?? [])]
    const labels = flags.labels === undefined ? { run: name } : parseLabels(flags.labels)
    const container = {
      name,
      image,
      ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }),
      ...(commandArgs.length === 0 ? {} : flags.command ? { command: commandArgs } : { args: commandArgs }),
      ...(flags.env.length === 0 ? {} : { env: flags.env.map(parseVariable) }),
      ...(port === undefined ? {} : { ports: [{ containerPort: port }] }),
      ...(flags.privileged ? { securityContext: { privileged: true } } : {}),
    }
    const annotations = flags.annotations.length === 0 ? {} : { annotations: parseLabels(flags.annotations.join(',')) }
    const pod: DynamicObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels, ...annotations },
      spec: { containers: [container], restartPolicy: restart, dnsPolicy: 'ClusterFirst' },
    }
    const created = [await createObject(pod, context)]
    if (flags.expose)
      created.unshift(
        await createObject(
          {
            apiVersion: 'v1',
            kind: 'Service',
            metadata: { name },
            spec: { ports: [{ port, protocol: 'TCP', targetPort: port }], selector: labels },
          },
          context,
        ),
      )
    printResults(created, flags, io)
    return 0
  },
})

function parseVariable(text: string): { readonly name: string; readonly value: string } {
  const equals = text.indexOf('=')
  if (equals <= 0) throw new CommandError(`invalid env: ${text}`)
  return { name: text.slice(0, equals), value: text.slice(equals + 1) }
}
