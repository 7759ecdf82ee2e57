// Connects stdin, stdout, stderr and the terminal of this process with a remote command of exec or attach.

import type { ExecOptions, RemoteCommand } from '@cluster-apiserver/client/pods/exec.js'
import { writeDrained } from '../../command-line/backpressure.js'
import type { Io } from '../../command-line/io.js'

/** Delay of the warning that stdin cannot be closed: most commands have ended by then. */
const stdinWarningMs = 3000

interface StreamSettings {
  readonly stdin: boolean
  readonly tty: boolean
  readonly quiet: boolean
  readonly io: Io
}

/** Output options of a remote command whose output goes to this process. */
export const processOutput: Pick<ExecOptions, 'onStdout' | 'onStderr'> = {
  onStdout: (data) => writeDrained(process.stdout, data),
  onStderr: (data) => writeDrained(process.stderr, data),
}

/** Returns the exit code of the command. */
export async function connectStreams(running: RemoteCommand, settings: StreamSettings): Promise<number> {
  const { tty, quiet, io } = settings
  const { stdin, stdout } = process
  const resize = (): void => void running.resize(stdout.columns ?? 80, stdout.rows ?? 24)
  if (tty) {
    stdin.setRawMode(true)
    resize()
    stdout.on('resize', resize)
  }
  // Pauses stdin until the data is sent. Write errors are ignored, and stdin then stays paused.
  const feed = (data: Buffer): void => {
    stdin.pause()
    running.write(data).then(
      () => stdin.resume(),
      () => undefined,
    )
  }
  let clearWarning = (): void => undefined
  const end = async (): Promise<void> => {
    clearWarning = await endInput(running, quiet ? undefined : io)
  }
  if (settings.stdin) stdin.on('data', feed).once('end', end)
  try {
    const { code, message } = await running.exit
    if (code !== 0 && !quiet) io.err(code === undefined ? `error: ${message}\n` : `command terminated with exit code ${code}\n`)
    return code ?? 1
  } finally {
    stdin.off('data', feed).off('end', end)
    clearWarning()
    if (tty) stdin.setRawMode(false)
    stdout.off('resize', resize)
    stdin.pause()
    stdin.unref?.()
    running.close()
  }
}

/** Closes stdin of the command, or warns later that it cannot. Returns a function that cancels the warning. */
export async function endInput(running: RemoteCommand, io: Io | undefined): Promise<() => void> {
  if ((await running.endInput().catch(() => true)) || io === undefined) return () => undefined
  const text = 'the server cannot close stdin of the command (subprotocol v5 required): press Ctrl-C if it waits for the end of its input\n'
  const warning = setTimeout(() => io.err(text), stdinWarningMs)
  return () => clearTimeout(warning)
}
