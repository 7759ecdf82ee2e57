// `cp`: copies files and folders to and from containers, with the program tar of the container.

import { statSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { rejectOnAbort } from '@cluster-apiserver/api/base/async/reject-on-abort.js'
import { isClientError } from '@cluster-apiserver/client/errors.js'
import type { RemoteCommand } from '@cluster-apiserver/client/pods/exec.js'
import { archivePrefix, extractTo, nameOfLocal } from '../../archive/extract.js'
import { TarError } from '../../archive/tar-header.js'
import { tarOf } from '../../archive/tar-writer.js'
import { writeDrained } from '../../command-line/backpressure.js'
import { type CommandContext, defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { chooseContainer } from '../../objects/find-pod.js'
import { endInput } from './remote-streams.js'

const messageBytes = 64 * 1024

export const command = defineCommand({
  usage: 'cp (LOCAL [NAMESPACE/]POD:PATH | [NAMESPACE/]POD:PATH LOCAL) [-c CONTAINER] [flags]',
  examples: ['cp ./shop web:/srv/shop', 'cp other/web:/var/log/app.log app.log'],
  flags: {
    container: { kind: 'text', short: 'c', help: 'container' },
    'no-preserve': { kind: 'switch', help: 'do not keep owner and permissions in the container' },
    retries: { kind: 'number', initial: '0', help: 'retries of a lost copy from a container; negative: no limit' },
  },
  run: async (context) => {
    const { args } = context
    if (args.length !== 2) throw new UsageError('source and destination are required')
    const [source, destination] = args.map(parseLocation) as [Location, Location]
    if (source.pod !== undefined && destination.pod !== undefined)
      throw new UsageError('one of src or dest must be a local file specification')
    if (source.path === '' || destination.path === '') throw new CommandError('filepath can not be empty')
    const settings = { flags: context.flags, context }
    if (source.pod !== undefined) return copyFromPod(source.path, destination.path, await findContainer(source, settings))
    if (destination.pod !== undefined) return copyToPod(source.path, destination.path, () => findContainer(destination, settings))
    throw new UsageError('one of src or dest must be a remote file specification')
  },
})

interface Location {
  readonly namespace?: string
  readonly pod?: string
  readonly path: string
}

function parseLocation(text: string): Location {
  const colon = text.indexOf(':')
  if (colon < 0) return { path: text }
  const parts = text.slice(0, colon).split('/')
  if (colon === 0 || parts.length > 2 || parts.includes(''))
    throw new UsageError('filespec must match the canonical format: [[namespace/]pod:]file/path')
  const [pod = '', namespace] = parts.toReversed()
  return { pod, ...(namespace === undefined ? {} : { namespace }), path: text.slice(colon + 1) }
}

interface CopyFlags {
  readonly container: string | undefined
  readonly 'no-preserve': boolean
  readonly retries: number | undefined
}

type CopyContext = Pick<CommandContext, 'session' | 'io' | 'signal'>

interface Container extends CopyContext {
  readonly flags: CopyFlags
  exec(command: readonly string[], stdin: boolean, onStdout: (data: Uint8Array) => unknown): Promise<RemoteCommand>
  /** True if the path is a folder of the container. */
  isFolder(path: string): Promise<boolean>
}

async function findContainer(
  { namespace, pod = '' }: Location,
  { flags, context }: { readonly flags: CopyFlags; readonly context: CopyContext },
): Promise<Container> {
  const { session, io, signal } = context
  const pods = session.client.pods(namespace ?? session.namespace)
  const container = chooseContainer(await pods.get(pod), flags.container, io)
  return {
    flags,
    session,
    io,
    signal,
    exec: (command, stdin, onStdout) =>
      pods.exec(pod, command, { container, stdin, onStdout, onStderr: (data) => writeDrained(process.stderr, data), signal }),
    isFolder: async (path) => (await pods.run(pod, ['test', '-d', path], { container, signal })).code === 0,
  }
}

/** A path that starts with a dash is no option of tar. */
const asArgument = (path: string): string => (path.startsWith('-') ? `./${path}` : path)

async function copyToPod(path: string, remotePath: string, find: () => Promise<Container>): Promise<number> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) throw new CommandError(`${path} doesn't exist in local filesystem`)
  const container = await find()
  const requested = posix.join(remotePath, '.')
  const target = (await container.isFolder(asArgument(requested))) ? posix.join(requested, nameOfLocal(path, resolve(path))) : requested
  const options = container.flags['no-preserve'] ? ['--no-same-permissions', '--no-same-owner'] : []
  const folder = posix.dirname(target)
  const running = await container.exec(['tar', ...options, '-xmf', '-', '-C', asArgument(folder)], true, (data) =>
    writeDrained(process.stdout, data),
  )
  const ended = new AbortController()
  const end = (): void => ended.abort()
  running.exit.then(end, end)
  let clear = (): void => undefined
  try {
    for (const data of inMessages(tarOf(path, target === folder ? '.' : posix.basename(target)))) {
      await rejectOnAbort(running.write(data), ended.signal)
    }
    clear = await endInput(running, container.io)
  } catch (thrown) {
    // If the remote tar has ended, its exit code explains the failure better.
    if (!ended.signal.aborted) {
      running.close()
      throw thrown
    }
  }
  try {
    return exitCodeOf(await running.exit, container)
  } finally {
    clear()
    running.close()
  }
}

function* inMessages(chunks: Iterable<Buffer>): Generator<Buffer, void, undefined> {
  let waiting: Buffer[] = []
  let size = 0
  for (const chunk of chunks) {
    waiting.push(chunk)
    size += chunk.length
    if (size < messageBytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}

async function copyFromPod(remotePath: string, destination: string, container: Container): Promise<number> {
  const { io, flags, signal } = container
  const reader = extractTo({
    prefix: archivePrefix(remotePath),
    destination: resolve(destination),
    warn: (text) => io.err(`warning: ${text}\n`),
  })
  const maxRetries = flags.retries ?? 0
  const file = asArgument(remotePath)
  let received = 0
  for (let retry = 0; ; retry++) {
    const resumed = ['sh', '-c', 'tar cf - "$0" | tail -c+"$1"', file, String(received + 1)]
    try {
      const running = await container.exec(received === 0 ? ['tar', 'cf', '-', file] : resumed, false, async (data) => {
        await reader.push(data)
        received += data.length
      })
      const code = exitCodeOf(await running.exit, container)
      if (code === 0) reader.finish()
      return code
    } catch (thrown) {
      if (thrown instanceof TarError) throw new CommandError(thrown.message)
      const isLost = isClientError(thrown) && thrown.kind === 'connection'
      if (!isLost || signal.aborted || maxRetries === 0) throw thrown
      if (maxRetries > 0 && retry >= maxRetries) throw new CommandError(`dropping out copy after ${retry} retries: ${thrown.message}`)
      io.err(`Resuming copy at ${received} bytes, retry ${retry + 1}${maxRetries > 0 ? `/${maxRetries}` : ''}\n`)
    }
  }
}

function exitCodeOf({ code, message }: { readonly code: number | undefined; readonly message: string }, { io }: Container): number {
  if (code !== 0) io.err(code === undefined ? `error: ${message}\n` : `command terminated with exit code ${code}\n`)
  return code ?? 1
}
