// Starts that must fail: each with one sentence that names the flag or folder, exit code 1, and nothing damaged.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, makeConfigMap, sleep } from './kit/fixtures.js'
import { runInside } from './kit/run-inside.js'
import { type Finished, newFolder, runCommand, ServerProcess } from './kit/server-process.js'

const place = mkdtempSync(join(tmpdir(), 'apiserver-bad-'))
after(() => rmSync(place, { recursive: true, force: true }))

const file = (name: string, content: string): string => {
  const path = join(place, name)
  writeFileSync(path, content)
  return path
}

/** One sentence on stderr, the exit code of a refusal, and no stack. */
function expectRefusal({ code, signal, stdout, stderr }: Finished, mentions: readonly (string | RegExp)[]): void {
  assert.deepEqual({ code, signal }, { code: 1, signal: null }, stderr + stdout)
  assert.match(stderr, /^cluster-apiserver: [^\n]+\n$/, `more or less than one line:\n${stderr}`)
  assert.doesNotMatch(stderr, /\bat .*:\d+:\d+|undefined|\[object|Error:/)
  for (const part of mentions)
    assert.ok(typeof part === 'string' ? stderr.includes(part) : part.test(stderr), `${String(part)} is not in: ${stderr}`)
  assert.doesNotMatch(stdout, /listens on/)
}

const rows: readonly { readonly name: string; readonly argv: readonly string[]; readonly says: readonly (string | RegExp)[] }[] = [
  { name: 'an unknown flag', argv: ['--secure-prot=1'], says: ['--secure-prot', '--secure-port'] },
  { name: 'a word that is no flag', argv: ['serve'], says: ['serve'] },
  { name: 'a flag without its value', argv: ['--data-dir'], says: ['--data-dir'] },
  { name: 'a port that is none', argv: ['--secure-port=70000'], says: ['--secure-port', '70000'] },
  { name: 'an address that is none', argv: ['--bind-address=localhost'], says: ['--bind-address', 'localhost'] },
  { name: 'an address of somebody else', argv: ['--bind-address=192.0.2.1'], says: ['192.0.2.1'] },
  { name: 'a duration that is none', argv: ['--request-timeout=soon'], says: ['--request-timeout', 'soon'] },
  { name: 'a negative duration', argv: ['--event-ttl=-5s'], says: ['--event-ttl'] },
  { name: 'bytes that are none', argv: ['--read-cache-bytes=lots'], says: ['--read-cache-bytes', 'lots'] },
  { name: 'a number that is none', argv: ['--max-requests-inflight=many'], says: ['--max-requests-inflight', 'many'] },
  { name: 'a boolean that is none', argv: ['--anonymous-auth=perhaps'], says: ['--anonymous-auth', 'perhaps'] },
  { name: 'an unknown identity', argv: ['--identity=klingon'], says: ['--identity', 'klingon', 'cluster', 'kubernetes'] },
  { name: 'an unknown engine', argv: ['--storage-backend=floppy'], says: ['--storage-backend', 'floppy'] },
  { name: 'an engine that comes later', argv: ['--storage-backend=etcd3'], says: ['--storage-backend', 'etcd3'] },
  { name: 'an unknown feature gate', argv: ['--feature-gates=Teleport=true'], says: ['--feature-gates', 'Teleport'] },
  { name: 'an unknown API', argv: ['--runtime-config=example.com/v1=true'], says: ['--runtime-config', 'example.com/v1'] },
  { name: 'an unknown TLS version', argv: ['--tls-min-version=VersionTLS99'], says: ['--tls-min-version', 'VersionTLS99'] },
  { name: 'an unknown admission plugin', argv: ['--enable-admission-plugins=Magic'], says: ['--enable-admission-plugins', 'Magic'] },
  { name: 'a plugin that lets nothing in', argv: ['--enable-admission-plugins=AlwaysDeny'], says: ['denying all modifications'] },
  { name: 'an unknown authorization mode', argv: ['--authorization-mode=Oracle'], says: ['--authorization-mode', 'Oracle'] },
  { name: 'a token file that is not there', argv: ['--token-auth-file=/no/such/file'], says: ['--token-auth-file', '/no/such/file'] },
  { name: 'a token file that is a folder', argv: [`--token-auth-file=${place}`], says: ['--token-auth-file', place] },
  {
    name: 'a token file with too few columns',
    argv: [`--token-auth-file=${file('tokens.csv', 'a,b,c\nonly,two\n')}`],
    says: ['--token-auth-file', 'line 2'],
  },
  {
    name: 'a certificate that is none',
    argv: [`--tls-cert-file=${file('not.crt', 'hello')}`, `--tls-private-key-file=${file('not.key', 'x')}`],
    says: ['--tls-cert-file', 'not.crt'],
  },
  { name: 'a certificate without its key', argv: [`--tls-cert-file=${file('a.crt', 'hello')}`], says: ['--tls-'] },
  {
    name: 'a configuration that is no YAML',
    argv: [`--audit-policy-file=${file('a.yaml', 'a: [b')}`],
    says: ['--audit-policy-file', 'a.yaml'],
  },
  {
    name: 'a client configuration without a server',
    argv: [`--audit-webhook-config-file=${file('b.yaml', 'kind: Config')}`],
    says: ['--audit-webhook-config-file', 'b.yaml'],
  },
]

describe('wrong command lines', { concurrency: 2 }, () => {
  for (const row of rows) {
    test(row.name, async () => {
      const dataDir = join(place, `data-${row.name.replaceAll(' ', '-')}`)
      const argv = row.argv.some((arg) => arg.startsWith('--data-dir')) ? row.argv : [`--data-dir=${dataDir}`, ...row.argv]
      expectRefusal(await runInside(['--secure-port=0', ...argv]), row.says)
    })
  }
  // As a process, which has to end: before anything is opened, and when much is.
  for (const [flag, says] of [
    ['--secure-prot=1', '--secure-port'],
    ['--bind-address=192.0.2.1', '192.0.2.1'],
  ] as const) {
    test(`${flag}, in a process of its own`, async () => {
      const dataDir = join(place, `data-${flag.slice(2, 8)}`)
      expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${dataDir}`, flag]), [says])
    })
  }
})

describe('places that cannot be used', () => {
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
    expectRefusal(await runCommand([`--secure-port=${running.port}`, `--data-dir=${dataDir}`]), [String(running.port), 'in use'])
    rmSync(dataDir, { recursive: true })
    await stillServes()
  })

  test('a data folder in use', async () => {
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${running.dataDir}`]), [running.dataDir, 'in use'])
    await stillServes()
  })

  test('a data folder in use, over a symbolic link', async () => {
    const link = join(place, 'link')
    execFileSync('ln', ['-s', running.dataDir, link])
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${link}`]), ['in use'])
    await stillServes()
  })

  test('a data folder below a file', async () => {
    const path = join(file('a-file', ''), 'data')
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${path}`]), [path])
  })

  test('a data folder that is a file', async () => {
    const path = file('another-file', 'precious')
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${path}`]), [path])
    assert.equal(readFileSync(path, 'utf8'), 'precious')
  })
})

/** A folder that a server has used and left in good order. */
async function usedFolder(flags: readonly string[] = []): Promise<string> {
  const dataDir = newFolder()
  const server = await ServerProcess.start({ dataDir, flags })
  for (let i = 0; i < 50; i++) await makeConfigMap(server.client, 'default', configMapOf(`o-${i}`, { data: { a: 'x'.repeat(5000) } }))
  assert.equal((await server.stop()).code, 0)
  return dataDir
}

let model: Promise<string> | undefined
/** One like that: a server is started for the first of them alone. */
async function copyOfUsedFolder(): Promise<string> {
  model ??= usedFolder()
  const dataDir = newFolder()
  cpSync(await model, dataDir, { recursive: true, preserveTimestamps: true })
  return dataDir
}
after(async () => {
  if (model !== undefined) rmSync(await model, { recursive: true, force: true })
})

const dataFile = (dataDir: string): string => {
  const store = join(dataDir, 'store')
  const found = readdirSync(store).find((name) => /^data/.test(name))
  assert.ok(found !== undefined, readdirSync(store).join(', '))
  return join(store, found)
}

describe('folders that were used before', { concurrency: 2 }, () => {
  test('another identity than the folder was made with', async () => {
    const dataDir = await usedFolder(['--identity=kubernetes'])
    const before = readFileSync(dataFile(dataDir))
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${dataDir}`, '--identity=cluster']), [dataDir, 'kubernetes', 'cluster'])
    assert.ok(readFileSync(dataFile(dataDir)).equals(before), 'the refusal changed the data')
    const again = await ServerProcess.start({ dataDir, flags: ['--identity=kubernetes'] })
    assert.equal((await again.client.get(configMaps('default'))).json.items.length, 50)
    await again.stop()
    rmSync(dataDir, { recursive: true })
  })

  for (const damage of [
    { name: 'cut in half', harm: (path: string) => truncateSync(path, Math.floor(readFileSync(path).length / 2)) },
    { name: 'overwritten with noise', harm: (path: string) => writeFileSync(path, Buffer.alloc(readFileSync(path).length, 'noise')) },
    { name: 'emptied', harm: (path: string) => truncateSync(path, 0) },
    { name: 'with noise in the middle', harm: scramble },
  ]) {
    test(`a data file that is ${damage.name}`, async () => {
      const dataDir = await copyOfUsedFolder()
      const path = dataFile(dataDir)
      damage.harm(path)
      const before = readFileSync(path)
      expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${dataDir}`]), [dataDir])
      assert.ok(readFileSync(path).equals(before), 'the refusal changed the data')
      rmSync(dataDir, { recursive: true })
    })
  }

  test('a broken certificate in the folder', async () => {
    const dataDir = await copyOfUsedFolder()
    writeFileSync(join(dataDir, 'pki', 'serving.crt'), 'hello')
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${dataDir}`]), [join(dataDir, 'pki')])
    rmSync(dataDir, { recursive: true })
  })
})

/** Every page of the middle third is lost. */
function scramble(path: string): void {
  const bytes = readFileSync(path)
  const third = Math.floor(bytes.length / 3)
  bytes.fill(0xa5, third - (third % 4096), 2 * third)
  writeFileSync(path, bytes)
}

const isRoot = process.getuid?.() === 0

test('a folder that may not be written', { skip: isRoot ? 'root may write everywhere' : false }, async () => {
  const path = join(place, 'locked')
  mkdirSync(path)
  chmodSync(path, 0o500)
  expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${join(path, 'data')}`]), [path])
})

describe('a read-only disk', () => {
  const disk = join(place, 'disk')
  let isMounted = false
  before(() => {
    mkdirSync(disk)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], { stdio: 'ignore' })
      isMounted = true
    } catch {
      // Only the superuser of a real machine may mount; elsewhere the test below says that it was skipped.
    }
  })
  after(() => {
    if (isMounted) execFileSync('umount', [disk])
  })

  test('refused, new folder and used one alike', async (t) => {
    if (!isMounted) {
      t.skip('mounting a disk is not allowed here')
      return
    }
    const used = join(disk, 'used')
    const server = await ServerProcess.start({ dataDir: used })
    await server.stop()
    await sleep(50)
    execFileSync('mount', ['-o', 'remount,ro', disk])
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${join(disk, 'new')}`]), [join(disk, 'new')])
    expectRefusal(await runCommand(['--secure-port=0', `--data-dir=${used}`]), [used])
  })
})
