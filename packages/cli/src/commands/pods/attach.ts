// `attach`: connects to the main process of a running container.

import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { chooseContainer, findPod, podFlags } from '../../objects/find-pod.js'
import { connectStreams, processOutput } from './remote-streams.js'

export const command = defineCommand({
  usage: 'attach (POD | TYPE/NAME) [-c CONTAINER] [-i] [-t] [flags]',
  examples: ['attach web', 'attach -it deployment/shop -c shell'],
  flags: {
    container: { kind: 'text', short: 'c', help: 'container' },
    stdin: { kind: 'switch', short: 'i', help: 'pass stdin to the container' },
    tty: { kind: 'switch', short: 't', help: 'stdin is a TTY' },
    ...podFlags('1m'),
    quiet: { kind: 'switch', short: 'q', help: 'print only the output of the container' },
  },
  run: async (context) => {
    const { args, flags, session, io, signal } = context
    const [podArgument, ...extraArgs] = args
    if (podArgument === undefined) throw new UsageError('at least 1 argument is required for attach')
    if (extraArgs.length > 0) throw new UsageError(`expected POD, TYPE/NAME, or TYPE NAME, (at most 1 argument) saw ${args.length}`)
    const pod = await findPod(podArgument, context)
    const { name = '' } = pod.metadata ?? {}
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed')
      throw new CommandError(`cannot attach a container in a completed pod; current phase is ${phase}`)
    const container = chooseContainer(pod, flags.container, flags.quiet ? { err: () => undefined } : io)
    const { containers = [], initContainers = [], restartPolicy } = pod.spec ?? {}
    const hasTty = [...containers, ...initContainers].find((candidate) => candidate.name === container)?.tty === true
    if (flags.tty && !hasTty && !flags.quiet) io.err(`error: Unable to use a TTY - container ${container} did not allocate one\n`)
    const isTerminal = process.stdin.isTTY === true
    if (flags.stdin && hasTty && !isTerminal && !flags.quiet)
      io.err('Unable to use a TTY - input is not a terminal or the right kind of file\n')
    // A container with a TTY has no separate stderr, so the stream needs `tty` also without the flag.
    const running = await session.client.pods(session.namespace).attach(name, {
      container,
      stdin: flags.stdin,
      tty: hasTty,
      ...processOutput,
      signal,
    })
    const isRaw = hasTty && isTerminal && flags.stdin
    if (!flags.quiet) io.err("If you don't see a command prompt, try pressing enter.\n")
    const code = await connectStreams(running, { stdin: flags.stdin, tty: isRaw, quiet: flags.quiet, io })
    if (isRaw && restartPolicy === 'Always')
      io.out(`Session ended, resume using 'clusterctl attach ${name} -c ${container} -i -t' command when the pod is running\n`)
    return code
  },
})
