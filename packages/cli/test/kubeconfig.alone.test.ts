// `config` commands: which kubeconfig file they change, and how.

import assert from 'node:assert/strict'
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { newFolder } from '../../../test/kit/server-process.js'
import { readYaml } from '../../api/src/codec/yaml/read-yaml.js'
import { runInProcess } from './run-in-process.js'

const variables = ['CLUSTERCONFIG', 'KUBECONFIG'] as const
const before = variables.map((name) => process.env[name])
let folder: string
beforeEach(() => {
  folder = newFolder()
})
afterEach(() => {
  for (const [i, name] of variables.entries()) setVariable(name, before[i])
  rmSync(folder, { recursive: true, force: true })
})

function setVariable(name: (typeof variables)[number], files: string | undefined): void {
  if (files === undefined) delete process.env[name]
  else process.env[name] = files
}

async function config(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runInProcess(['config', ...args])
  assert.equal(code, 0, stderr)
  return stdout
}

const empty = 'apiVersion: v1\nkind: Config\n'

/** Writes an empty and a complete kubeconfig; returns their paths. */
function twoFiles(): readonly [string, string] {
  const [a, b] = [join(folder, 'a'), join(folder, 'b')]
  writeFileSync(a, empty)
  const entries = `clusters: [{name: c, cluster: {server: "https://c"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: prod, context: {cluster: c, user: u}}]
`
  writeFileSync(b, `${empty}current-context: prod\n${entries}`)
  setVariable('CLUSTERCONFIG', `${a}:${b}`)
  return [a, b]
}

test('changes preserve unknown fields', async () => {
  const file = join(folder, 'other-config')
  writeFileSync(file, 'apiVersion: v1\nkind: Config\nextensions: [{name: x, extension: {a: b}}]\n')
  const inFile = (...args: readonly string[]): Promise<string> => config(...args, '--kubeconfig', file)
  await inFile('set-cluster', 'c', '--server=https://c.example')
  await inFile('set-credentials', 'u', '--token=secret')
  await inFile('set-context', 'x', '--cluster=c', '--user=u', '--namespace=n')
  assert.equal(await inFile('use-context', 'x'), 'Switched to context "x".\n')
  await inFile('rename-context', 'x', 'y')
  assert.equal(await inFile('current-context'), 'y\n')
  assert.doesNotMatch(await inFile('view'), /secret/)
  assert.match(await inFile('view', '--raw'), /secret/)
  assert.match(readFileSync(file, 'utf8'), /a: b/)
  assert.equal(existsSync(`${file}.lock`), false)
})

test('the file with the entry is changed', async () => {
  const [a, b] = twoFiles()
  assert.equal(await config('set-context', 'prod', '--namespace=x'), 'Context "prod" modified.\n')
  assert.equal(await config('set-context', '--current', '--namespace=y'), 'Context "prod" modified.\n')
  await config('set-cluster', 'c', '--server=https://d')
  await config('set-credentials', 'u', '--token=s')
  assert.equal(readFileSync(a, 'utf8'), empty)
  assert.match(await config('get-contexts', '--no-headers'), /^\* +prod +c +u +y\n$/)
  assert.equal(await config('view', '--raw', '-o', 'jsonpath={.clusters[*].cluster.server} {.users[*].user.token}'), 'https://d s')
  await config('rename-context', 'prod', 'live')
  assert.equal(await config('current-context'), 'live\n')
  assert.equal(readFileSync(a, 'utf8'), empty)
  await config('set-context', 'fresh', '--cluster=c')
  assert.match(readFileSync(a, 'utf8'), /name: fresh/)
  assert.equal(await config('delete-context', 'live'), `deleted context live from ${b}\n`)
  await config('delete-cluster', 'c')
  await config('delete-user', 'u')
  assert.match((await runInProcess(['config', 'delete-user', 'u'])).stderr, /cannot delete user u, not in /)
})

test('set-cluster and set-credentials remove contradicting fields', async () => {
  const file = join(folder, 'config')
  setVariable('CLUSTERCONFIG', file)
  const entry = (section: 'clusters' | 'users', member: string): unknown => {
    const document = readYaml(readFileSync(file, 'utf8')).value as unknown as Record<string, readonly Record<string, unknown>[]>
    return document[section]?.[0]?.[member]
  }
  const pem = join(folder, 'pem')
  writeFileSync(pem, 'pem')
  const data = Buffer.from('pem').toString('base64')
  const set = async (command: 'set-cluster' | 'set-credentials', ...flags: readonly string[]): Promise<unknown> => {
    await config(command, 'x', ...flags)
    return command === 'set-cluster' ? entry('clusters', 'cluster') : entry('users', 'user')
  }
  const server = 'https://c'
  const authority = ['--certificate-authority', pem]
  const first = await set('set-cluster', '--server', server, ...authority, '--embed-certs', '--tls-server-name=n')
  assert.deepEqual(first, { server, 'certificate-authority-data': data, 'tls-server-name': 'n' })
  assert.deepEqual(await set('set-cluster', '--server', server), { server, 'certificate-authority-data': data })
  assert.deepEqual(await set('set-cluster', '--insecure-skip-tls-verify'), { server, 'insecure-skip-tls-verify': true })
  assert.deepEqual(await set('set-cluster', '--insecure-skip-tls-verify=false'), { server })
  await set('set-cluster', '--insecure-skip-tls-verify=true')
  assert.deepEqual(await set('set-cluster', ...authority), { server, 'certificate-authority': pem })
  const pair = ['--client-certificate', pem, '--client-key', pem]
  const embedded = { 'client-certificate-data': data, 'client-key-data': data }
  const named = { 'client-certificate': pem, 'client-key': pem }
  assert.deepEqual(await set('set-credentials', ...pair, '--embed-certs'), embedded)
  assert.deepEqual(await set('set-credentials', ...pair), named)
  assert.deepEqual(await set('set-credentials', '--username=a', '--password=b'), { ...named, username: 'a', password: 'b' })
  assert.deepEqual(await set('set-credentials', '--token=t'), { ...named, token: 't' })
  assert.deepEqual(await set('set-credentials', '--username=a', '--password=b'), { ...named, username: 'a', password: 'b' })
})

test('symbolic links are followed; concurrent changes are all made', async () => {
  const [file, link] = [join(folder, 'real'), join(folder, 'link')]
  writeFileSync(file, empty)
  symlinkSync(file, link)
  setVariable('CLUSTERCONFIG', link)
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => config('set-cluster', name, '--server=https://x')))
  assert.ok(lstatSync(link).isSymbolicLink())
  assert.equal((await config('get-clusters')).split('\n').length, 6)
  assert.match(readFileSync(file, 'utf8'), /name: d/)
})

test('config set and unset of single properties', async () => {
  const [, b] = twoFiles()
  const fails = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await runInProcess(['config', ...args])
    assert.equal(code, 1, args.join(' '))
    return stderr
  }
  assert.equal(await config('set', 'clusters.c.server', 'https://new'), 'Property "clusters.c.server" set.\n')
  await config('set', 'clusters.c.insecure-skip-tls-verify', 'true')
  await config('set', 'clusters.with.dots.server', 'https://dots')
  await config('set', 'users.u.client-key-data', 'key', '--set-raw-bytes')
  await config('set', 'users.u.exec.command', 'plugin')
  const template = 'jsonpath={.clusters[*].cluster}{.clusters[*].name} {.users[0].user}'
  assert.equal(
    await config('view', '--raw', '-o', template),
    '{"server":"https://dots"} {"insecure-skip-tls-verify":true,"server":"https://new"}with.dots c {"client-key-data":"a2V5","exec":{"command":"plugin"},"token":"t"}',
  )
  await config('unset', 'users.u.exec')
  assert.equal(await config('unset', 'clusters.c.insecure-skip-tls-verify'), 'Property "clusters.c.insecure-skip-tls-verify" unset.\n')
  assert.doesNotMatch(readFileSync(b, 'utf8'), /insecure|plugin/)
  await config('set', 'current-context', 'other')
  assert.equal(await config('current-context'), 'other\n')
  await config('unset', 'current-context')
  assert.match(await fails('current-context'), /current-context is not set/)
  await config('unset', 'contexts.prod')
  await config('unset', 'users')
  assert.equal(await config('view', '-o', 'jsonpath={.contexts}{.users}'), '[][]')
  assert.match(await fails('set', 'clusters.c.nope', 'x'), /supported: clusters\.c\.server, /)
  assert.match(await fails('set', 'nope', 'x'), /unknown property "nope"/)
  assert.match(await fails('set', 'users.u.client-key-data', 'no base64'), /--set-raw-bytes/)
  assert.match(await fails('set', 'clusters.c.insecure-skip-tls-verify', 'perhaps'), /true or false/)
  assert.match(await fails('unset', 'contexts.none.namespace'), /context "none" does not exist/)
})

test('view --flatten embeds files; set-credentials merges exec flags', async () => {
  const file = join(folder, 'config')
  setVariable('CLUSTERCONFIG', file)
  writeFileSync(join(folder, 'ca'), 'authority')
  await config('set-cluster', 'c', '--server=https://c', '--certificate-authority', join(folder, 'ca'))
  await config(
    'set-credentials',
    'u',
    '--exec-command=a',
    '--exec-api-version=client.authentication.cluster.io/v1',
    '--exec-env=A=1,2',
    '--exec-env=B=3',
  )
  await config('set-credentials', 'u', '--exec-arg=x', '--exec-env=B-', '--exec-env=C=4')
  const plugin =
    '{"apiVersion":"client.authentication.cluster.io/v1","args":["x"],"command":"a","env":[{"name":"A","value":"1,2"},{"name":"C","value":"4"}],"interactiveMode":"IfAvailable"}'
  assert.equal(await config('view', '-o', 'jsonpath={.users[0].user.exec}'), plugin)
  const data = Buffer.from('authority').toString('base64')
  assert.equal(await config('view', '--flatten', '-o', 'jsonpath={.clusters[0].cluster.certificate-authority-data}'), data)
  assert.match((await runInProcess(['config', 'set-credentials', 'w', '--exec-command=a'])).stderr, /--exec-api-version is required/)
  assert.match((await runInProcess(['config', 'get-contexts', '-o', 'yaml'])).stderr, /use name/)
})

test('set-credentials writes auth providers for other clients', async () => {
  const file = join(folder, 'providers')
  setVariable('CLUSTERCONFIG', file)
  const provider = async (...args: readonly string[]): Promise<string> => {
    await config('set-credentials', 'x', ...args)
    return config('view', '--raw', '-o', 'jsonpath={.users[0].user.auth-provider}')
  }
  assert.equal(
    await provider('--auth-provider=oidc', '--auth-provider-arg=client-id=a', '--auth-provider-arg=x=y'),
    '{"config":{"client-id":"a","x":"y"},"name":"oidc"}',
  )
  assert.equal(await provider('--auth-provider-arg=x-'), '{"config":{"client-id":"a"},"name":"oidc"}')
  assert.equal(await provider('--auth-provider=other'), '{"name":"other"}')
  assert.match(
    (await runInProcess(['config', 'set-credentials', 'y', '--auth-provider-arg=x=y'])).stderr,
    /--auth-provider-arg requires --auth-provider/,
  )
})
