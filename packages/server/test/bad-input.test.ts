// Starts that must fail: one sentence that names the flag or folder, exit code 1 or 2, nothing damaged.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, makeConfigMap, sleep } from '../../../test/kit/fixtures.js'
import { runInProcess } from '../../../test/kit/run-command.js'
import { type Finished, newFolder, runCommand, ServerProcess } from '../../../test/kit/server-process.js'

const folder = mkdtempSync(join(tmpdir(), 'apiserver-bad-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** Checks for one sentence on stderr, no stack trace, and exit code 2 for an error of a flag, otherwise 1. */
function expectStartError({ code, signal, stdout, stderr }: Finished, mentions: readonly (string | RegExp)[]): void {
  const isFlagError = /^cluster-apiserver: (?:--|unexpected argument)/.test(stderr)
  assert.deepEqual({ code, signal }, { code: isFlagError ? 2 : 1, signal: null }, stderr + stdout)
  assert.match(stderr, /^cluster-apiserver: [^\n]+\n$/, `more or less than one line:\n${stderr}`)
  assert.doesNotMatch(stderr, /\bat .*:\d+:\d+|undefined|\[object|Error:/)
  for (const part of mentions)
    assert.ok(typeof part === 'string' ? stderr.includes(part) : part.test(stderr), `${String(part)} is not in: ${stderr}`)
  assert.doesNotMatch(stdout, /listens on/)
}

const rows: readonly { readonly name: string; readonly argv: readonly string[]; readonly messages: readonly (string | RegExp)[] }[] = [
  { name: 'an unknown flag', argv: ['--secure-prot=1'], messages: ['--secure-prot', '--secure-port'] },
  { name: 'an argument that is not a flag', argv: ['serve'], messages: ['serve'] },
  { name: 'a flag without its value', argv: ['--data-dir'], messages: ['--data-dir'] },
  { name: 'an invalid port', argv: ['--secure-port=70000'], messages: ['--secure-port', '70000'] },
  { name: 'an invalid address', argv: ['--bind-address=localhost'], messages: ['--bind-address', 'localhost'] },
  { name: 'an address of another machine', argv: ['--bind-address=192.0.2.1'], messages: ['192.0.2.1'] },
  { name: 'an invalid duration', argv: ['--request-timeout=soon'], messages: ['--request-timeout', 'soon'] },
  { name: 'a negative duration', argv: ['--event-ttl=-5s'], messages: ['--event-ttl'] },
  { name: 'an invalid byte count', argv: ['--read-cache-bytes=lots'], messages: ['--read-cache-bytes', 'lots'] },
  { name: 'an invalid number', argv: ['--max-requests-inflight=many'], messages: ['--max-requests-inflight', 'many'] },
  { name: 'an invalid boolean', argv: ['--anonymous-auth=perhaps'], messages: ['--anonymous-auth', 'perhaps'] },
  { name: 'an unknown identity', argv: ['--identity=klingon'], messages: ['--identity', 'klingon', 'cluster', 'kubernetes'] },
  { name: 'an unknown engine', argv: ['--storage-backend=floppy'], messages: ['--storage-backend', 'floppy'] },
  { name: 'etcd3 without etcd servers', argv: ['--storage-backend=etcd3'], messages: ['--storage-backend', 'etcd3'] },
  { name: 'an unknown feature gate', argv: ['--feature-gates=Teleport=true'], messages: ['--feature-gates', 'Teleport'] },
  { name: 'an unknown API', argv: ['--runtime-config=example.com/v1=true'], messages: ['--runtime-config', 'example.com/v1'] },
  { name: 'an unknown TLS version', argv: ['--tls-min-version=VersionTLS99'], messages: ['--tls-min-version', 'VersionTLS99'] },
  { name: 'an unknown admission plugin', argv: ['--enable-admission-plugins=Magic'], messages: ['--enable-admission-plugins', 'Magic'] },
  { name: 'AlwaysDeny', argv: ['--enable-admission-plugins=AlwaysDeny'], messages: ['denying all modifications'] },
  { name: 'an unknown authorization mode', argv: ['--authorization-mode=Oracle'], messages: ['--authorization-mode', 'Oracle'] },
  { name: 'a missing token file', argv: ['--token-auth-file=/no/such/file'], messages: ['--token-auth-file', '/no/such/file'] },
  { name: 'a token file that is a folder', argv: [`--token-auth-file=${folder}`], messages: ['--token-auth-file', folder] },
  {
    name: 'a token file with too few columns',
    argv: [`--token-auth-file=${file('tokens.csv', 'a,b,c\nonly,two\n')}`],
    messages: ['--token-auth-file', 'line 2'],
  },
  {
    name: 'an invalid certificate',
    argv: [`--tls-cert-file=${file('not.crt', 'hello')}`, `--tls-private-key-file=${file('not.key', 'x')}`],
    messages: ['--tls-cert-file', 'not.crt'],
  },
  { name: 'a certificate without its key', argv: [`--tls-cert-file=${file('a.crt', 'hello')}`], messages: ['--tls-'] },
  {
    name: 'a configuration that is not YAML',
    argv: [`--audit-policy-file=${file('a.yaml', 'a: [b')}`],
    messages: ['--audit-policy-file', 'a.yaml'],
  },
  {
    name: 'a client configuration without a server',
    argv: [`--audit-webhook-config-file=${file('b.yaml', 'kind: Config')}`],
    messages: ['--audit-webhook-config-file', 'b.yaml'],
  },
]

describe('wrong command lines', { concurrency: 2 }, () => {
  for (const row of rows) {
    test(row.name, async () => {
      const dataDir = join(folder, `data-${row.name.replaceAll(' ', '-')}`)
      const argv = row.argv.some((arg) => arg.startsWith('--data-dir')) ? row.argv : [`--data-dir=${dataDir}`, ...row.argv]
      expectStartError(await runInProcess(['--secure-port=0', ...argv]), row.messages)
    })
  }
  // As processes, which must exit: before anything is opened, and after most is.
  for (const [flag, message] of [
    ['--secure-prot=1', '--secure-port'],
    ['--bind-address=192.0.2.1', '192.0.2.1'],
  ] as const) {
    test(`${flag}, as a process`, async () => {
      const dataDir = join(folder, `data-${flag.slice(2, 8)}`)
      expectStartError(await runCommand(['--secure-port=0', `--data-dir=${dataDir}`, flag]), [message])
    })
  }
})

describe('ports and folders that cannot be used', () => {
  let running: ServerProcess
  before(async () => {
    running = await ServerProcess.start()
    await makeConfigMap(running.client, 'default', configMapOf('kept', { data: { a: '1' } }))
  })
  after(() => running.stop())
  const stillServes = async (): Promise<void> => {
    assert.deepEqual(expectStatus(await running.client.get(configMaps('default', 'kept')), 200).json.data, { a: '1' })
    await makeConfigMap(running.client, 'default', { ...configMapOf(''), metadata: { generateName: 'more-' } as never })
  }

  test('a port in use', async () => {
    const dataDir = newFolder()
    expectStartError(await runInProcess([`--secure-port=${running.port}`, `--data-dir=${dataDir}`]), [String(running.port), 'in use'])
    rmSync(dataDir, { recursive: true })
    await stillServes()
  })

  test('a data folder in use', async () => {
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${running.dataDir}`]), [running.dataDir, 'in use'])
    await stillServes()
  })

  test('a data folder in use, over a symbolic link', async () => {
    const link = join(folder, 'link')
    execFileSync('ln', ['-s', running.dataDir, link])
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${link}`]), ['in use'])
    await stillServes()
  })

  test('a data folder below a file', async () => {
    const blockingFile = file('a-file', '')
    // Node.js 20 names the folder, 22 and 24 the file.
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${join(blockingFile, 'data')}`]), [blockingFile])
  })

  test('a data folder that is a file', async () => {
    const path = file('another-file', 'precious')
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${path}`]), [path])
    assert.equal(readFileSync(path, 'utf8'), 'precious')
  })
})

/** A folder that a server has used and closed cleanly. */
async function usedFolder(flags: readonly string[] = []): Promise<string> {
  const dataDir = newFolder()
  const server = await ServerProcess.start({ dataDir, flags })
  for (let i = 0; i < 50; i++) await makeConfigMap(server.client, 'default', configMapOf(`o-${i}`, { data: { a: 'x'.repeat(5000) } }))
  assert.equal((await server.stop()).code, 0)
  return dataDir
}

let usedFolderTemplate: Promise<string> | undefined
/** A copy of one folder: only the first call starts a server. */
async function copyOfUsedFolder(): Promise<string> {
  usedFolderTemplate ??= usedFolder()
  const dataDir = newFolder()
  cpSync(await usedFolderTemplate, dataDir, { recursive: true, preserveTimestamps: true })
  return dataDir
}
after(async () => {
  if (usedFolderTemplate !== undefined) rmSync(await usedFolderTemplate, { recursive: true, force: true })
})

const dataFile = (dataDir: string): string => {
  const store = join(dataDir, 'store')
  const found = readdirSync(store).find((name) => /^data/.test(name))
  assert.ok(found !== undefined, readdirSync(store).join(', '))
  return join(store, found)
}

describe('data folders of earlier runs', { concurrency: 2 }, () => {
  test('a folder of another identity', async () => {
    const dataDir = await usedFolder(['--identity=kubernetes'])
    const before = readFileSync(dataFile(dataDir))
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${dataDir}`, '--identity=cluster']), [
      dataDir,
      'kubernetes',
      'cluster',
    ])
    assert.ok(readFileSync(dataFile(dataDir)).equals(before), 'the refusal changed the data')
    const again = await ServerProcess.start({ dataDir, flags: ['--identity=kubernetes'] })
    assert.equal((await again.client.get(configMaps('default'))).json.items.length, 50)
    await again.stop()
    rmSync(dataDir, { recursive: true })
  })

  for (const damage of [
    { name: 'cut in half', apply: (path: string) => truncateSync(path, Math.floor(readFileSync(path).length / 2)) },
    { name: 'overwritten with noise', apply: (path: string) => writeFileSync(path, Buffer.alloc(readFileSync(path).length, 'noise')) },
    { name: 'emptied', apply: (path: string) => truncateSync(path, 0) },
    { name: 'with noise in the middle', apply: scramble },
  ]) {
    test(`a data file that is ${damage.name}`, async () => {
      const dataDir = await copyOfUsedFolder()
      const path = dataFile(dataDir)
      damage.apply(path)
      const before = readFileSync(path)
      expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${dataDir}`]), [dataDir])
      assert.ok(readFileSync(path).equals(before), 'the refusal changed the data')
      rmSync(dataDir, { recursive: true })
    })
  }

  test('a broken certificate in the folder', async () => {
    const dataDir = await copyOfUsedFolder()
    writeFileSync(join(dataDir, 'pki', 'serving.crt'), 'hello')
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${dataDir}`]), [join(dataDir, 'pki')])
    rmSync(dataDir, { recursive: true })
  })
})

/** Overwrites every page of the middle third. */
function scramble(path: string): void {
  const bytes = readFileSync(path)
  const third = Math.floor(bytes.length / 3)
  bytes.fill(0xa5, third - (third % 4096), 2 * third)
  writeFileSync(path, bytes)
}

const isRoot = process.getuid?.() === 0

test('a folder without write permission', { skip: isRoot ? 'root may write everywhere' : false }, async () => {
  const path = join(folder, 'locked')
  mkdirSync(path)
  chmodSync(path, 0o500)
  expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${join(path, 'data')}`]), [path])
})

describe('a read-only disk', () => {
  const disk = join(folder, 'disk')
  let isMounted = false
  before(() => {
    mkdirSync(disk)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], { stdio: 'ignore' })
      isMounted = true
    } catch {
      // Mounting needs root; otherwise the test below reports that it is skipped.
    }
  })
  after(() => {
    if (isMounted) execFileSync('umount', [disk])
  })

  test('new and existing folders are rejected', async (t) => {
    if (!isMounted) {
      t.skip('mounting a disk is not allowed here')
      return
    }
    const used = join(disk, 'used')
    const server = await ServerProcess.start({ dataDir: used })
    await server.stop()
    await sleep(50)
    execFileSync('mount', ['-o', 'remount,ro', disk])
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${join(disk, 'new')}`]), [join(disk, 'new')])
    expectStartError(await runInProcess(['--secure-port=0', `--data-dir=${used}`]), [used])
  })
})
