// Commands with files: namespaces, pruning, selectors, permissions, --local, editors, --save-config, diff.

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../../../test/clients/obtain.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { useServer } from './harness.js'
import { runInProcess } from './run-in-process.js'

const start = useServer()
const map = (name: string, namespace?: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { a: 'b' } })

test('apply --prune prunes only namespaces of objects in the files', async () => {
  const { server, runHere } = start()
  await server.client.core.v1.namespaces().create({ metadata: { name: 'shop' } })
  assert.equal((await runHere(['apply', '-f', '-'], `${map('mine')}\n---\n${map('old', 'shop')}`)).code, 0)
  const pruned = await runHere(['apply', '-f', '-', '--prune', '--all'], map('prices', 'shop'))
  assert.equal(pruned.stdout, 'configmap/prices created\nconfigmap/old pruned\n', pruned.stderr)
  await server.client.core.v1.configMaps('default').get('mine')
  // Objects without namespace are in the current one.
  const current = await runHere(['apply', '-f', '-', '--prune', '--all'], map('other'))
  assert.equal(current.stdout, 'configmap/other created\nconfigmap/mine pruned\n', current.stderr)
})

test('JSON objects in a file may follow each other without a separator', async () => {
  const { runHere } = start()
  const { code, stdout } = await runHere(['create', '-f', '-'], `${map('first')}\n${map('second')}`)
  assert.deepEqual([code, stdout], [0, 'configmap/first created\nconfigmap/second created\n'])
  await runHere(['delete', 'cm', 'first', 'second'])
})

test('an empty namespace in a file means the current one', async () => {
  const { server, runHere } = start()
  for (const flags of [[], ['--namespace=default']]) {
    const created = await runHere(['apply', '-f', '-', ...flags], map('placed', ''))
    assert.equal(created.code, 0, created.stderr)
  }
  await server.client.core.v1.configMaps('default').get('placed')
})

test('a full disk is reported after the command has finished', { skip: !existsSync('/dev/full') }, async () => {
  const { server, folder } = start()
  const maps = server.client.core.v1.configMaps('default')
  const names = ['f1', 'f2', 'f3', 'f4', 'f5']
  for (const name of names) await maps.create({ metadata: { name } })
  const env = { PATH: `${join(repoRoot, 'bin')}:${process.env['PATH']}`, HOME: folder, KUBECONFIG: join(folder, 'config') }
  const script = `clusterctl delete cm ${names.join(' ')} --wait=false > /dev/full`
  const { code, stderr } = await runToEnd('bash', ['-c', script], { cwd: folder, env })
  assert.equal(code, 1)
  assert.match(stderr, /^error: cannot write the output: .*no space left/)
  for (const name of names) assert.equal(await maps.find(name), undefined, name)
})

test('-l selects objects of files; arguments with files are rejected', async () => {
  const { server, runHere } = start()
  const maps = server.client.core.v1.configMaps('default')
  const file = ['one', 'two']
    .map((name) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { app: name } }, data: { a: 'b' } }))
    .join('\n---\n')
  const prints = async (line: string, text: string): Promise<void> =>
    assert.deepEqual(await runHere([...line.split(' '), '-f', '-'], file), { code: 0, stdout: text, stderr: '' }, line)
  await prints('apply -l app=two', 'configmap/two created\n')
  await prints('apply', 'configmap/one created\nconfigmap/two unchanged\n')
  await prints('label -l app=one x=y', 'configmap/one labeled\n')
  await prints('get -l app!=one -o name', 'configmap/two\n')
  await prints('delete -l app=one', 'configmap "one" deleted\n')
  await maps.get('two')
  for (const line of ['delete cm two', 'get cm', 'describe cm two', 'label cm two a=b']) {
    const refused = await runHere([...line.split(' '), '-f', '-'], file)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /you may not specify resource arguments as well/)
  }
  assert.match((await runHere(['apply', '-l', 'app=none', '-f', '-'], file)).stderr, /no objects passed to apply/)
  assert.match((await runHere(['delete', '-l', 'a in', '-f', '-'], file)).stderr, /invalid selector "a in"/)
  await maps.get('two')
})

test('delete, replace and apply work without permission to list or get', async () => {
  const { server, runHere, run } = start()
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
  const created = await maps.create({ metadata: { name: 'forced' } })
  const replaced = await runHere(['replace', '--force', '-f', '-', '--as=robot'], map('forced'))
  assert.deepEqual([replaced.stdout, replaced.stderr], ['configmap/forced replaced\n', ''])
  assert.notEqual((await maps.get('forced')).metadata?.uid, created.metadata?.uid)
  assert.equal((await runHere(['delete', 'cm', 'forced', '--as=robot'])).stdout, 'configmap "forced" deleted\n')
  assert.equal((await runHere(['apply', '-f', '-', '--as=blind'], map('applied'))).stdout, 'configmap/applied serverside-applied\n')
  assert.equal((await runHere(['delete', 'cm', 'applied', '--as=blind'])).code, 0)
  // Without permission to watch, delete polls.
  await maps.create({ metadata: { name: 'awaited', finalizers: ['example.com/x'] } })
  const deleting = run(['delete', 'cm', 'awaited', '--as=robot'])
  while ((await maps.get('awaited')).metadata?.deletionTimestamp === undefined);
  await maps.patch('awaited', { metadata: { finalizers: null } })
  assert.deepEqual(await deleting, { code: 0, stdout: 'configmap "awaited" deleted\n', stderr: '' })
})

test('create --dry-run=client prints a namespace only with -n', async () => {
  const { runHere } = start()
  const created = (...more: readonly string[]) =>
    runHere(['create', 'configmap', 'x', '--dry-run=client', '-o', 'jsonpath={.metadata.namespace}', ...more])
  assert.equal((await created()).stdout, '')
  assert.equal((await created('-n', 'shop')).stdout, 'shop')
})

test('--from-env-file reads files with byte order mark and CRLF', async () => {
  const { runHere, folder } = start()
  const file = join(folder, 'values.env')
  writeFileSync(file, '\uFEFFA=1\r\n  # a note\r\n\r\n  B=2 \r\n')
  const create = (...more: readonly string[]) =>
    runHere(['create', 'configmap', 'e', `--from-env-file=${file}`, '--dry-run=client', '-o', 'jsonpath={.data}', ...more])
  assert.deepEqual(JSON.parse((await create()).stdout), { A: '1', B: '2 ' })
  assert.match((await create('--from-literal=c=d')).stderr, /from-env-file cannot be combined/)
})

test('create clusterrole --resource=*; contradicting changes are rejected', async () => {
  const { runHere } = start()
  const { stdout } = await runHere([
    'create',
    'clusterrole',
    'all',
    '--verb=*',
    '--resource=*',
    '--dry-run=client',
    '-o',
    'jsonpath={.rules}',
  ])
  assert.deepEqual(JSON.parse(stdout), [{ apiGroups: [''], resources: ['*'], verbs: ['*'] }])
  assert.match((await runHere(['label', 'ns', 'default', 'a=b', 'a-'])).stderr, /can not both modify and remove .*: a\n/)
  assert.match(
    (await runHere(['config', 'set-credentials', 'u', '--exec-command=x', '--exec-env=B'])).stderr,
    /takes KEY=VALUE, or KEY- to remove one, not "B"/,
  )
})

test('--local changes objects of files without a server', async () => {
  const { folder } = start()
  const file = join(folder, 'local.yaml')
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', labels: { a: '1' } },
    spec: { template: { spec: { containers: ['x', 'y'].map((name) => ({ name, image: `${name}:1` })) } } },
  }
  writeFileSync(file, JSON.stringify(deployment))
  const local = (...args: readonly string[]) => runInProcess([...args, '--local', '-f', file, '--server=https://127.0.0.1:1'])
  assert.deepEqual(await local('label', 'b=2'), { code: 0, stdout: 'deployment.apps/d labeled\n', stderr: '' })
  assert.equal((await local('label', 'b=2', 'a-', '-o', 'jsonpath={.metadata.labels}')).stdout, '{"b":"2"}')
  assert.match((await local('label', 'a=2')).stderr, /'a' already has a value \(1\), and --overwrite is false/)
  assert.equal((await local('annotate', 'n=v', '-o', 'jsonpath={.metadata.annotations}')).stdout, '{"n":"v"}')
  assert.match((await local('label', 'cm', 'd', 'b=2')).stderr, /can only use local files/)
  const images = 'jsonpath={.spec.template.spec.containers[*].image}'
  const patch = (type: string, text: string) => local('patch', `--type=${type}`, '-p', text, '-o', images)
  const containers = { spec: { template: { spec: { containers: [{ name: 'y', image: 'y:2' }] } } } }
  assert.equal((await patch('strategic', JSON.stringify(containers))).stdout, 'x:1 y:2')
  assert.equal((await patch('merge', JSON.stringify(containers))).stdout, 'y:2')
  const operation = { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'x:2' }
  assert.equal((await patch('json', JSON.stringify([operation]))).stdout, 'x:2 y:1')
  assert.match((await patch('json', JSON.stringify([{ ...operation, path: '/none/x' }]))).stderr, /^error: /)
})

test('create --edit and edit -f', async () => {
  const { run, server, folder } = start()
  const maps = server.client.core.v1.configMaps('default')
  const file = join(folder, 'edited.json')
  writeFileSync(file, map('drafted'))
  const editing = (script: string, ...args: readonly string[]) => run([...args, '-f', file], '', { EDITOR: `sed -i '${script}'` })
  assert.match((await editing('', 'create', '--edit')).stderr, /no changes made/)
  assert.equal(await maps.find('drafted'), undefined)
  assert.equal((await editing('s/a: b/a: c/', 'create', '--edit')).stdout, 'configmap/drafted created\n')
  const line = '"a": "c"'
  const edited = await editing(`s/${line}/"a": "d"/`, 'edit', '-o', 'json', '--output-patch', '--windows-line-endings')
  assert.equal(edited.stdout, 'Patch: {"data":{"a":"d"}}\nconfigmap/drafted edited\n', edited.stderr)
  // Concurrent changes of other fields are preserved.
  const concurrent = await run(['edit', 'cm', 'drafted'], '', {
    EDITOR: `sh -c 'sed -i s/a:.d/a:\\ e/ "$0"; node ${join(repoRoot, 'bin', 'clusterctl')} patch cm drafted --type=merge -p "{\\"data\\":{\\"z\\":\\"1\\"}}"'`,
  })
  assert.equal(concurrent.code, 0, concurrent.stderr)
  assert.deepEqual((await maps.get('drafted')).data, { a: 'e', z: '1' })
})

test('--save-config of create, edit and create --edit', async () => {
  const { run, server, folder } = start()
  const maps = server.client.core.v1.configMaps('default')
  const lastApplied = async (name: string): Promise<unknown> => {
    const annotations = (await maps.get(name)).metadata?.annotations ?? {}
    const text = annotations['kubectl.cluster.io/last-applied-configuration']
    return text === undefined ? undefined : (JSON.parse(text) as { readonly data: unknown }).data
  }
  await run(['create', 'configmap', 'plain', '--from-literal=a=1'])
  assert.equal(await lastApplied('plain'), undefined)
  await run(['create', 'configmap', 'saved', '--from-literal=a=1', '--save-config'])
  assert.deepEqual(await lastApplied('saved'), { a: '1' })
  const EDITOR = `sed -i 's/a: "1"/a: "2"/'`
  await run(['edit', 'cm', 'saved'], '', { EDITOR })
  assert.deepEqual([(await maps.get('saved')).data, await lastApplied('saved')], [{ a: '2' }, { a: '1' }])
  await run(['edit', 'cm', 'plain', '--save-config'], '', { EDITOR })
  assert.deepEqual(await lastApplied('plain'), { a: '2' })
  const file = join(folder, 'draft.json')
  writeFileSync(file, map('draft'))
  await run(['create', '--edit', '--save-config', '-f', file], '', { EDITOR: `sed -i 's/a: b/a: c/'` })
  assert.deepEqual(await lastApplied('draft'), { a: 'c' })
})

test('diff --prune, and diff with KUBECTL_EXTERNAL_DIFF', async () => {
  const { runHere, run, server } = start()
  await server.client.core.v1.namespaces().create({ metadata: { name: 'compared' } })
  assert.equal((await runHere(['apply', '-f', '-', '-n', 'compared'], `${map('kept')}\n---\n${map('gone')}`)).code, 0)
  const args = ['diff', '-f', '-', '-n', 'compared', '--prune']
  const shown = await runHere(args, map('kept'))
  assert.equal(shown.code, 1, shown.stderr)
  assert.match(shown.stdout, /^--- live\/compared\/configmap\/gone\n\+\+\+ merged\/compared\/configmap\/gone\n/)
  assert.match(shown.stdout, /^- {2}name: gone$/m)
  const external = await run(args, map('kept'), { KUBECTL_EXTERNAL_DIFF: 'diff -rq' })
  assert.equal(external.code, 1)
  assert.match(external.stdout, /^Only in .*LIVE: v1\.ConfigMap\.compared\.gone\n$/)
  assert.equal((await run(args, map('kept'), { KUBECTL_EXTERNAL_DIFF: 'true' })).code, 0)
  const none = await run(args, map('kept'), { KUBECTL_EXTERNAL_DIFF: 'no-such-program' })
  assert.deepEqual([none.code, /failed to run "no-such-program"/.test(none.stderr)], [2, true])
})

test('apply --server-side, --force on immutable objects, replace --force, and prune --wait', async () => {
  const { runHere, server } = start()
  const fixed = (value: string): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fixed' }, immutable: true, data: { a: value } })
  assert.equal((await runHere(['apply', '--server-side', '-f', '-'], fixed('1'))).stdout, 'configmap/fixed serverside-applied\n')
  assert.match((await runHere(['apply', '-f', '-'], fixed('2'))).stderr, /field is immutable/)
  assert.equal((await runHere(['apply', '--force', '-f', '-'], fixed('2'))).stdout, 'configmap/fixed configured\n')
  assert.equal((await server.client.core.v1.configMaps('default').get('fixed')).data?.['a'], '2')
  assert.match(
    (await runHere(['apply', '--force', '--server-side', '-f', '-'], fixed('3'))).stderr,
    /--force cannot be used with --server-side/,
  )
  assert.match((await runHere(['replace', '--grace-period=3', '-f', '-'], fixed('3'))).stderr, /--grace-period must have --force specified/)
  const replaced = await runHere(['replace', '--force', '--grace-period=0', '--timeout=60s', '--cascade=orphan', '-f', '-'], fixed('3'))
  assert.equal(replaced.stdout, 'configmap/fixed replaced\n', replaced.stderr)
  const pruned = await runHere(
    ['apply', '-f', '-', '--prune', '-l', 'p', '--wait', '--cascade=foreground', '--grace-period=0'],
    labelled('one'),
  )
  assert.equal(pruned.code, 0, pruned.stderr)
  const again = await runHere(['apply', '-f', '-', '--prune', '-l', 'p', '--wait', '--cascade=foreground'], labelled('second'))
  assert.equal(again.stdout, 'configmap/second created\nconfigmap/one pruned\n', again.stderr)
})

const labelled = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { p: 'q' } }, data: { a: 'b' } })
