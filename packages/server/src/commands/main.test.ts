// The command with a fake server: output, exit codes, signals and uncaught errors.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { RunningServer } from '../assemble/running-server.js'
import { ListenError } from '../net/listen/listen-error.js'
import type { Settings } from '../options/settings.js'
import { StorageRefusedError } from '../storage/storage.js'
import { logUncaughtErrors } from './graceful-shutdown.js'
import { main } from './main.js'
import * as script from './serve.js'

interface Fixture {
  readonly options: script.ServeOptions
  readonly signals: EventEmitter
  readonly closes: ({ readonly immediately?: boolean } | undefined)[]
  readonly ended: Promise<number>
  readonly printed: () => string
  readonly errors: () => string
}

interface FakeServer {
  readonly start?: (settings: Settings) => void
  readonly close?: (options?: { readonly immediately?: boolean }) => Promise<void>
}

function setUp({ start, close }: FakeServer = {}): Fixture {
  const signals = new EventEmitter()
  const closes: Fixture['closes'] = []
  let printed = ''
  let errors = ''
  let exit: (code: number) => void = () => undefined
  const ended = new Promise<number>((resolve) => {
    exit = resolve
  })
  const server = (settings: Settings): RunningServer => ({
    address: settings.bindAddress,
    port: 6443,
    url: 'https://127.0.0.1:6443',
    caPem: '',
    clientConfiguration: 'kind: Config\n',
    clientConfigurationPath: settings.dataDir === undefined ? undefined : `${settings.dataDir}/admin.conf`,
    close: (options) => {
      closes.push(options)
      return close?.(options) ?? Promise.resolve()
    },
  })
  const options: script.ServeOptions = {
    print: (text) => {
      printed += text
    },
    printError: (text) => {
      errors += text
    },
    assemble: async (settings) => {
      start?.(settings)
      return server(settings)
    },
    signals,
    exit: (code) => exit(code),
  }
  return { options, signals, closes, ended, printed: () => printed, errors: () => errors }
}

const run = (argv: readonly string[], options: script.ServeOptions): Promise<void> => main(argv, async () => script, options)
const memory = ['--storage-backend=memory']
const folder = mkdtempSync(join(tmpdir(), 'my main '))
after(() => rmSync(folder, { recursive: true }))
const filePath = join(folder, 'file')
writeFileSync(filePath, '')

const raise = (error: Error) => () => {
  throw error
}

for (const row of [
  {
    name: 'wrong flag',
    argv: ['--secure-port=abc'],
    start: undefined,
    expected: 'cluster-apiserver: --secure-port: "abc" is not a port (0–65535)\n',
  },
  {
    name: 'port in use',
    argv: memory,
    start: raise(new ListenError(Object.assign(new Error(), { code: 'EADDRINUSE' }), { host: '::1', port: 1 })),
    expected: 'cluster-apiserver: port 1 of ::1 is in use by another process; choose another, or 0 for any free one\n',
  },
  {
    name: 'folder in use',
    argv: memory,
    start: raise(new StorageRefusedError('x is in use')),
    expected: 'cluster-apiserver: x is in use\n',
  },
  {
    name: 'a file at the path of the folder',
    argv: [`--data-dir=${filePath}/x`],
    start: undefined,
    // Node.js 20 reports ENOTDIR for the folder, 22 and 24 report EEXIST for the file.
    expected: /^cluster-apiserver: cannot use .*: (?:a part of the path is not a directory|a file exists at this path)\n$/,
  },
  {
    name: 'read-only disk',
    argv: memory,
    start: raise(Object.assign(new Error(), { code: 'EROFS', path: '/x' })),
    expected: 'cluster-apiserver: cannot use /x: the disk is read-only\n',
  },
]) {
  test(`does not start: ${row.name}`, async () => {
    const { options, ended, errors } = setUp(row.start === undefined ? {} : { start: row.start })
    await run(row.argv, options)
    assert.equal(await ended, row.name === 'wrong flag' ? 2 : 1)
    if (typeof row.expected === 'string') assert.equal(errors(), row.expected)
    else assert.match(errors(), row.expected)
  })
}

test('an unexpected error is shown with its stack', async () => {
  const { options, ended, errors } = setUp({ start: raise(new TypeError('oops')) })
  await run(memory, options)
  assert.equal(await ended, 1)
  assert.match(errors(), /^cluster-apiserver: start failed: TypeError: oops\n +at /)
})

test('--help and --version print and exit', async () => {
  const help = setUp()
  await run(['--help'], help.options)
  assert.match(help.printed(), /^cluster-apiserver: [\s\S]*backup\|restore\|migrate[\s\S]*--secure-port/)
  const backup = setUp()
  await run(['backup', '--help'], backup.options)
  assert.match(backup.printed(), /^usage: cluster-apiserver backup /)
  const version = setUp()
  await run(['--version'], version.options)
  assert.match(version.printed(), /^cluster-apiserver \d+\.\d+\.\d+ \(commit (?:[0-9a-f]{40}|unknown), Node\.js v\d+\.\d+\.\d+\)\n$/)
})

test('prints the address, the kubeconfig and an example', async () => {
  const { options, printed, errors } = setUp()
  const selector = `${folder}/egress.yaml`
  writeFileSync(selector, 'kind: EgressSelectorConfiguration\napiVersion: apiserver.cluster.io/v1beta1\n')
  await run([`--data-dir=${folder}`, `--egress-selector-config-file=${selector}`], options)
  const [first, second, third] = printed().split('\n')
  assert.match(first ?? '', /^cluster-apiserver [\d.]+ listens on https:\/\/127\.0\.0\.1:6443 \(identity cluster, data in .*my main /)
  assert.equal(second, `  kubeconfig: ${folder}/admin.conf`)
  assert.ok(third?.startsWith(`  try: curl --cacert '${folder}/pki/ca.crt' -H "Authorization: Bearer $(cat '${folder}/`), third)
  assert.match(printed(), /\nready after \d+ ms\n$/)
  assert.equal(errors(), '')
})

for (const [address, flags, hint] of [
  [
    '0.0.0.0',
    [],
    '(--bind-address=0.0.0.0); requests without credentials have the user system:anonymous; use --anonymous-auth=false to reject them',
  ],
  ['::', ['--anonymous-auth=false'], '(--bind-address=::); requests without credentials are rejected'],
  ['127.0.0.1', [], undefined],
  ['0:0:0:0:0:0:0:1', [], undefined],
] as const)
  test(`${hint === undefined ? 'no note' : 'a note that other machines can connect'} when bound to ${address}`, async () => {
    const { options, printed } = setUp()
    await run([...memory, `--bind-address=${address}`, ...flags], options)
    assert.equal(
      printed()
        .split('\n')
        .find((line) => line.includes('other machines')),
      hint && `  other machines can connect ${hint}`,
    )
  })

test('a server in memory prints the kubeconfig', async () => {
  const { options, printed } = setUp()
  await run(memory, options)
  assert.match(printed(), /data in memory\)\n.*\n\nkind: Config\n\nready/)
})

test('SIGTERM shuts down gracefully and exits with 0', async () => {
  const { options, signals, closes, ended } = setUp()
  await run(memory, options)
  signals.emit('SIGTERM')
  assert.equal(await ended, 0)
  assert.deepEqual(closes, [undefined])
})

test('a second signal closes immediately and exits with 1', async () => {
  let finish: () => void = () => undefined
  const gracefulClose = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { options, signals, closes, ended } = setUp({
    close: async (options) => (options?.immediately ? finish() : gracefulClose),
  })
  await run(memory, options)
  signals.emit('SIGINT')
  signals.emit('SIGTERM')
  assert.equal(await ended, 1)
  assert.deepEqual(closes, [undefined, { immediately: true }])
})

test('a failed shutdown exits with 1', async () => {
  const { options, signals, ended, errors } = setUp({ close: () => Promise.reject(new Error('disk gone')) })
  await run(memory, options)
  signals.emit('SIGTERM')
  assert.equal(await ended, 1)
  assert.match(errors(), /shutdown failed: disk gone/)
})

for (const row of [
  { name: 'an exception', event: 'uncaughtException', error: new Error('half done'), shouldExit: true, level: 'error' },
  { name: 'undefined instead of an error', event: 'uncaughtException', error: undefined, shouldExit: true, level: 'error' },
  {
    name: 'a broken connection',
    event: 'uncaughtException',
    error: Object.assign(new Error(), { code: 'EPIPE' }),
    shouldExit: false,
    level: 'warn',
  },
  { name: 'a rejected promise', event: 'unhandledRejection', error: new Error('nobody waits'), shouldExit: false, level: 'error' },
]) {
  test(`uncaught: ${row.name}`, () => {
    const source = new EventEmitter()
    const logged: string[] = []
    let shouldExit = false
    const logger = { ...silentLogger, warn: () => void logged.push('warn'), error: () => void logged.push('error') }
    logUncaughtErrors(source, logger, () => {
      shouldExit = true
    })
    source.emit(row.event, row.error)
    assert.equal(shouldExit, row.shouldExit)
    assert.deepEqual(logged, [row.level])
  })
}
