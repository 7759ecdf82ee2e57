// Runs a command in a container; its exit code is ours.

import { defineCommand } from '../command.js'
import { UsageError } from '../flags.js'
import { containerOf, podFlags, podOf } from '../pods.js'
import { fullNameOf, readFiled } from '../targets.js'
import { writeOn } from '../write-on.js'

/** A command that needs no end of its input has ended by then. */
const patienceMs = 3000

export const command = defineCommand({
  usage: 'exec (POD | TYPE/NAME) [-c CONTAINER] [-i] [-t] -- COMMAND [ARGS…]',
  about: 'run a command in a container',
  examples: ['exec web -- ls /', 'exec -it deployment/shop -- sh'],
  flags: {
    container: { kind: 'text', short: 'c', help: 'which container' },
    stdin: { kind: 'switch', short: 'i', help: 'the command reads our standard input' },
    tty: { kind: 'switch', short: 't', help: 'with a terminal' },
    ...podFlags('1m'),
    filename: { kind: 'list', short: 'f', help: 'a file with the pod, or with what makes pods' },
    quiet: { kind: 'switch', short: 'q', help: 'only what the command says' },
  },
  run: async (work) => {
    const { args, rest, flags, session, io, signal } = work
    const filed = flags.filename.length === 0 ? undefined : await readFiled({ filename: flags.filename, recursive: false }, work)
    const named = filed?.[0]
    if (filed !== undefined && filed.length !== 1) throw new UsageError('-f must name a file with exactly one object')
    const [word, ...old] = named === undefined ? args : [fullNameOf(named.resource, named.name), ...args]
    const words = rest ?? old
    if (words.length === 0) throw new UsageError('you must specify at least one command for the container, behind --')
    const pod = await podOf(word, work)
    const { stdin, stdout } = process
    const tty = flags.tty && stdin.isTTY === true
    if (flags.tty && !tty && !flags.quiet) io.err('Unable to use a TTY - input is not a terminal or the right kind of file\n')
    const running = await session.client.pods(session.namespace).exec(pod.metadata?.name ?? '', words, {
      container: containerOf(pod, flags.container, flags.quiet ? { err: () => undefined } : io),
      stdin: flags.stdin,
      tty,
      onStdout: (data) => writeOn(stdout, data),
      onStderr: (data) => writeOn(process.stderr, data),
      signal,
    })
    const resize = (): void => void running.resize(stdout.columns ?? 80, stdout.rows ?? 24)
    if (tty) {
      stdin.setRawMode(true)
      resize()
      stdout.on('resize', resize)
    }
    // No faster than it is taken; when the command has ended, nobody takes it any more.
    const feed = (data: Buffer): void => {
      stdin.pause()
      running.write(data).then(
        () => stdin.resume(),
        () => undefined,
      )
    }
    let warning: NodeJS.Timeout | undefined
    const end = async (): Promise<void> => {
      if ((await running.endInput().catch(() => true)) || flags.quiet) return
      warning = setTimeout(
        () => io.err('the other side cannot be told that the input has ended: interrupt it if it waits for that\n'),
        patienceMs,
      )
    }
    if (flags.stdin) stdin.on('data', feed).once('end', end)
    try {
      const { code, message } = await running.exit
      if (code !== 0 && !flags.quiet) io.err(code === undefined ? `error: ${message}\n` : `command terminated with exit code ${code}\n`)
      return code ?? 1
    } finally {
      stdin.off('data', feed).off('end', end)
      clearTimeout(warning)
      if (tty) stdin.setRawMode(false)
      stdout.off('resize', resize)
      stdin.pause()
      stdin.unref?.()
      running.close()
    }
  },
})
