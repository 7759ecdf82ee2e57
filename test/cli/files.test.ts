// What commands make of files: where objects belong, what may be pruned, keys and values.

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import { play } from './play.js'

const start = play()
const map = (name: string, namespace?: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { a: 'b' } })

test('nothing is pruned in a namespace in which no file has an object', async () => {
  const { server, here } = start()
  await server.client.core.v1.namespaces().create({ metadata: { name: 'shop' } })
  assert.equal((await here(['apply', '-f', '-'], `${map('mine')}\n---\n${map('old', 'shop')}`)).code, 0)
  const pruned = await here(['apply', '-f', '-', '--prune', '--all'], map('prices', 'shop'))
  assert.equal(pruned.stdout, 'configmap/prices created\nconfigmap/old pruned\n', pruned.stderr)
  await server.client.core.v1.configMaps('default').get('mine')
  // What says no namespace is in the current one, and so is what goes.
  const current = await here(['apply', '-f', '-', '--prune', '--all'], map('other'))
  assert.equal(current.stdout, 'configmap/other created\nconfigmap/mine pruned\n', current.stderr)
})

test('an empty namespace in a file means the current one', async () => {
  const { server, here } = start()
  for (const flags of [[], ['--namespace=default']]) {
    const made = await here(['apply', '-f', '-', ...flags], map('placed', ''))
    assert.equal(made.code, 0, made.stderr)
  }
  await server.client.core.v1.configMaps('default').get('placed')
})

test('output that cannot be written is told, and leaves no work half done', { skip: !existsSync('/dev/full') }, async () => {
  const { server, folder } = start()
  const maps = server.client.core.v1.configMaps('default')
  const names = ['f1', 'f2', 'f3', 'f4', 'f5']
  for (const name of names) await maps.create({ metadata: { name } })
  const env = { PATH: `${join(repoRoot, 'bin')}:${process.env['PATH']}`, HOME: folder, KUBECONFIG: join(folder, 'config') }
  const script = `clusterctl delete cm ${names.join(' ')} --wait=false > /dev/full`
  const { code, stderr } = await runToEnd('bash', ['-c', script], { cwd: folder, env })
  assert.equal(code, 1)
  assert.match(stderr, /^error: the output could not be written: .*no space left/)
  for (const name of names) assert.equal(await maps.find(name), undefined, name)
})

test('of files with -l only what has the labels is meant, and words beside files are refused', async () => {
  const { server, here } = start()
  const maps = server.client.core.v1.configMaps('default')
  const file = ['one', 'two']
    .map((name) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { app: name } }, data: { a: 'b' } }))
    .join('\n---\n')
  const says = async (line: string, text: string): Promise<void> =>
    assert.deepEqual(await here([...line.split(' '), '-f', '-'], file), { code: 0, stdout: text, stderr: '' }, line)
  await says('apply -l app=two', 'configmap/two created\n')
  await says('apply', 'configmap/one created\nconfigmap/two unchanged\n')
  await says('label -l app=one x=y', 'configmap/one labeled\n')
  await says('get -l app!=one -o name', 'configmap/two\n')
  await says('delete -l app=one', 'configmap "one" deleted\n')
  await maps.get('two')
  for (const line of ['delete cm two', 'get cm', 'describe cm two', 'label cm two a=b']) {
    const refused = await here([...line.split(' '), '-f', '-'], file)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /you may not specify resource arguments as well/)
  }
  assert.match((await here(['apply', '-l', 'app=none', '-f', '-'], file)).stderr, /no objects passed to apply/)
  assert.match((await here(['delete', '-l', 'a in', '-f', '-'], file)).stderr, /the selector "a in"/)
  await maps.get('two')
})

test('who may not list or read deletes, replaces and applies all the same', async () => {
  const { server, here, run } = start()
  const { client } = server
  await client.rbacAuthorization.v1.roles('default').create({
    metadata: { name: 'robot' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update', 'delete'] }],
  })
  await client.rbacAuthorization.v1.roles('default').create({
    metadata: { name: 'blind' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch', 'delete'] }],
  })
  for (const name of ['robot', 'blind'])
    await client.rbacAuthorization.v1.roleBindings('default').create({
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'Role', name },
      subjects: [{ kind: 'User', name, apiGroup: 'rbac.authorization.cluster.io' }],
    })
  const maps = client.core.v1.configMaps('default')
  const made = await maps.create({ metadata: { name: 'forced' } })
  const replaced = await here(['replace', '--force', '-f', '-', '--as=robot'], map('forced'))
  assert.deepEqual([replaced.stdout, replaced.stderr], ['configmap/forced replaced\n', ''])
  assert.notEqual((await maps.get('forced')).metadata?.uid, made.metadata?.uid)
  assert.equal((await here(['delete', 'cm', 'forced', '--as=robot'])).stdout, 'configmap "forced" deleted\n')
  assert.equal((await here(['apply', '-f', '-', '--as=blind'], map('applied'))).stdout, 'configmap/applied serverside-applied\n')
  assert.equal((await here(['delete', 'cm', 'applied', '--as=blind'])).code, 0)
  // Something that is waited for comes to those who may only read.
  await maps.create({ metadata: { name: 'awaited', finalizers: ['example.com/x'] } })
  const gone = run(['delete', 'cm', 'awaited', '--as=robot'])
  while ((await maps.get('awaited')).metadata?.deletionTimestamp === undefined);
  await maps.patch('awaited', { metadata: { finalizers: null } })
  assert.deepEqual(await gone, { code: 0, stdout: 'configmap "awaited" deleted\n', stderr: '' })
})

test('what is made to be shown is for any namespace, unless one was named', async () => {
  const { here } = start()
  const made = (...more: readonly string[]) =>
    here(['create', 'configmap', 'x', '--dry-run=client', '-o', 'jsonpath={.metadata.namespace}', ...more])
  assert.equal((await made()).stdout, '')
  assert.equal((await made('-n', 'shop')).stdout, 'shop')
})

test('files of keys and values may come from other systems', async () => {
  const { here, folder } = start()
  const file = join(folder, 'values.env')
  writeFileSync(file, '\uFEFFA=1\r\n  # a note\r\n\r\n  B=2 \r\n')
  const create = (...more: readonly string[]) =>
    here(['create', 'configmap', 'e', `--from-env-file=${file}`, '--dry-run=client', '-o', 'jsonpath={.data}', ...more])
  assert.deepEqual(JSON.parse((await create()).stdout), { A: '1', B: '2 ' })
  assert.match((await create('--from-literal=c=d')).stderr, /from-env-file cannot be combined/)
})

test('roles may be for every resource, and what contradicts itself is refused', async () => {
  const { here } = start()
  const { stdout } = await here(['create', 'clusterrole', 'all', '--verb=*', '--resource=*', '--dry-run=client', '-o', 'jsonpath={.rules}'])
  assert.deepEqual(JSON.parse(stdout), [{ apiGroups: [''], resources: ['*'], verbs: ['*'] }])
  assert.match((await here(['label', 'ns', 'default', 'a=b', 'a-'])).stderr, /can not both modify and remove .*: a\n/)
  assert.match(
    (await here(['config', 'set-credentials', 'u', '--exec-command=x', '--exec-env=B'])).stderr,
    /takes KEY=VALUE, or KEY- to remove one, not "B"/,
  )
})
