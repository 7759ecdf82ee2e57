// The command from the outside: what it prints, how it ends, and what a signal does, with a server that only pretends.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ListenError } from '../net/listen-error.js'
import { StorageRefusedError } from '../storage/storage.js'
import { main, type Surroundings } from './main.js'
import type { Settings } from './options/settings.js'
import type { RunningServer } from './running-server.js'

interface Stage {
  readonly surroundings: Surroundings
  readonly signals: EventEmitter
  readonly closes: ({ readonly immediately?: boolean } | undefined)[]
  readonly ended: Promise<number>
  readonly said: () => string
  readonly complained: () => string
}

interface Play {
  readonly start?: (settings: Settings) => void
  readonly close?: (options?: { readonly immediately?: boolean }) => Promise<void>
}

function stage({ start, close }: Play = {}): Stage {
  const signals = new EventEmitter()
  const closes: Stage['closes'] = []
  let said = ''
  let complained = ''
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
  const surroundings: Surroundings = {
    print: (text) => {
      said += text
    },
    complain: (text) => {
      complained += text
    },
    loadAssemble: async () => async (settings) => {
      start?.(settings)
      return server(settings)
    },
    signals,
    exit: (code) => exit(code),
  }
  return { surroundings, signals, closes, ended, said: () => said, complained: () => complained }
}

const memory = ['--storage-backend=memory']
const folder = mkdtempSync(join(tmpdir(), 'my main '))
after(() => rmSync(folder, { recursive: true }))
const inTheWay = join(folder, 'file')
writeFileSync(inTheWay, '')

const raise = (error: Error) => () => {
  throw error
}

for (const row of [
  {
    name: 'wrong flag',
    argv: ['--secure-port=abc'],
    start: undefined,
    says: 'cluster-apiserver: --secure-port: "abc" is not a port (0–65535)\n',
  },
  {
    name: 'port in use',
    argv: memory,
    start: raise(new ListenError(Object.assign(new Error(), { code: 'EADDRINUSE' }), { host: '::1', port: 1 })),
    says: 'cluster-apiserver: port 1 of ::1 is in use by another process; choose another, or 0 for any free one\n',
  },
  { name: 'folder in use', argv: memory, start: raise(new StorageRefusedError('x is in use')), says: 'cluster-apiserver: x is in use\n' },
  {
    name: 'no place for a folder',
    argv: [`--data-dir=${inTheWay}/x`],
    start: undefined,
    says: `cluster-apiserver: cannot use ${inTheWay}/x: a part of the path is not a folder\n`,
  },
  {
    name: 'read-only disk',
    argv: memory,
    start: raise(Object.assign(new Error(), { code: 'EROFS', path: '/x' })),
    says: 'cluster-apiserver: cannot use /x: the disk is read-only\n',
  },
]) {
  test(`does not start: ${row.name}`, async () => {
    const { surroundings, ended, complained } = stage(row.start === undefined ? {} : { start: row.start })
    await main(row.argv, surroundings)
    assert.equal(await ended, 1)
    assert.equal(complained(), row.says)
  })
}

test('a mistake of the program shows its stack', async () => {
  const { surroundings, ended, complained } = stage({ start: raise(new TypeError('oops')) })
  await main(memory, surroundings)
  assert.equal(await ended, 1)
  assert.match(complained(), /^cluster-apiserver: start failed: TypeError: oops\n +at /)
})

test('help and version end by themselves', async () => {
  const help = stage()
  await main(['--help'], help.surroundings)
  assert.match(help.said(), /^cluster-apiserver: [\s\S]*backup\|restore\|migrate[\s\S]*--secure-port/)
  const backup = stage()
  await main(['backup', '--help'], backup.surroundings)
  assert.match(backup.said(), /^usage: cluster-apiserver backup /)
  const version = stage()
  await main(['--version'], version.surroundings)
  assert.match(version.said(), /^cluster-apiserver \d+\.\d+\.\d+\n$/)
})

test('says where it listens and how to connect', async () => {
  const { surroundings, said, complained } = stage()
  const selector = `${folder}/egress.yaml`
  writeFileSync(selector, 'kind: EgressSelectorConfiguration\napiVersion: apiserver.cluster.io/v1beta1\n')
  await main([`--data-dir=${folder}`, `--egress-selector-config-file=${selector}`], surroundings)
  const [first, second, third] = said().split('\n')
  assert.match(first ?? '', /^cluster-apiserver [\d.]+ listens on https:\/\/127\.0\.0\.1:6443 \(identity cluster, data in .*my main /)
  assert.equal(second, `  client configuration: ${folder}/admin.conf`)
  assert.ok(third?.startsWith(`  try: curl --cacert '${folder}/pki/ca.crt' -H "Authorization: Bearer $(cat '${folder}/`), third)
  assert.match(said(), /\nready after \d+ ms\n$/)
  assert.equal(complained(), '')
})

for (const [address, flags, hint] of [
  ['0.0.0.0', [], '(--bind-address=0.0.0.0); requests without a credential are from system:anonymous, unless --anonymous-auth=false'],
  ['::', ['--anonymous-auth=false'], '(--bind-address=::); requests without a credential are refused'],
  ['127.0.0.1', [], undefined],
  ['0:0:0:0:0:0:0:1', [], undefined],
] as const)
  test(`says ${hint === undefined ? 'nothing' : 'that other machines can connect'} when bound to ${address}`, async () => {
    const { surroundings, said } = stage()
    await main([...memory, `--bind-address=${address}`, ...flags], surroundings)
    assert.equal(
      said()
        .split('\n')
        .find((line) => line.includes('other machines')),
      hint && `  other machines can connect ${hint}`,
    )
  })

test('with nothing but memory the client configuration is printed', async () => {
  const { surroundings, said } = stage()
  await main(memory, surroundings)
  assert.match(said(), /data in memory\)\n.*\n\nkind: Config\n\nready/)
})

test('a signal closes with grace', async () => {
  const { surroundings, signals, closes, ended } = stage()
  await main(memory, surroundings)
  signals.emit('SIGTERM')
  assert.equal(await ended, 0)
  assert.deepEqual(closes, [undefined])
})

test('a second signal ends at once', async () => {
  let finish: () => void = () => undefined
  const gentle = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { surroundings, signals, closes, ended } = stage({
    close: async (options) => (options?.immediately ? finish() : gentle),
  })
  await main(memory, surroundings)
  signals.emit('SIGINT')
  signals.emit('SIGTERM')
  assert.equal(await ended, 1)
  assert.deepEqual(closes, [undefined, { immediately: true }])
})

test('a shutdown that fails ends with 1', async () => {
  const { surroundings, signals, ended, complained } = stage({ close: () => Promise.reject(new Error('disk gone')) })
  await main(memory, surroundings)
  signals.emit('SIGTERM')
  assert.equal(await ended, 1)
  assert.match(complained(), /shutting down failed: disk gone/)
})
