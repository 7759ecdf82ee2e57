// `exec`: runs a command in a container and returns its exit code.

import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'
import { chooseContainer, findPod, podFlags } from '../../objects/find-pod.js'
import { fullNameOf } from '../../objects/named-object.js'
import { readManifestObjects } from '../../objects/object-arguments.js'
import { connectStreams, processOutput } from './remote-streams.js'

export const command = defineCommand({
  usage: 'exec (POD | TYPE/NAME) [-c CONTAINER] [-i] [-t] -- COMMAND [ARGS…]',
  examples: ['exec web -- ls /', 'exec -it deployment/shop -- sh'],
  flags: {
    container: { kind: 'text', short: 'c', help: 'container' },
    stdin: { kind: 'switch', short: 'i', help: 'pass stdin to the command' },
    tty: { kind: 'switch', short: 't', help: 'allocate a TTY' },
    ...podFlags('1m'),
    filename: { kind: 'list', short: 'f', help: 'file with the pod or workload' },
    quiet: { kind: 'switch', short: 'q', help: 'print only the output of the command' },
  },
  run: async (context) => {
    const { args, rest, flags, session, io, signal } = context
    const manifests =
      flags.filename.length === 0 ? undefined : await readManifestObjects({ filename: flags.filename, recursive: false }, context)
    const manifest = manifests?.[0]
    if (manifests !== undefined && manifests.length !== 1) throw new UsageError('-f requires a file with exactly one object')
    const [podArgument, ...positional] = manifest === undefined ? args : [fullNameOf(manifest.resource, manifest.name), ...args]
    const containerCommand = rest ?? positional
    if (containerCommand.length === 0) throw new UsageError('you must specify at least one command for the container, after --')
    const pod = await findPod(podArgument, context)
    const tty = flags.tty && process.stdin.isTTY === true
    if (flags.tty && !tty && !flags.quiet) io.err('Unable to use a TTY - input is not a terminal or the right kind of file\n')
    const running = await session.client.pods(session.namespace).exec(pod.metadata?.name ?? '', containerCommand, {
      container: chooseContainer(pod, flags.container, flags.quiet ? { err: () => undefined } : io),
      stdin: flags.stdin,
      tty,
      ...processOutput,
      signal,
    })
    return connectStreams(running, { stdin: flags.stdin, tty, quiet: flags.quiet, io })
  },
})
