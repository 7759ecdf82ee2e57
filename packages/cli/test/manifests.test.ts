// What commands make of files: where objects belong, what may be pruned, keys and values.

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import { play } from './play.js'
import { runHere } from './run-here.js'

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

test('with --local files are changed and no server is asked', async () => {
  const { folder } = start()
  const file = join(folder, 'local.yaml')
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', labels: { a: '1' } },
    spec: { template: { spec: { containers: ['x', 'y'].map((name) => ({ name, image: `${name}:1` })) } } },
  }
  writeFileSync(file, JSON.stringify(deployment))
  const local = (...words: readonly string[]) => runHere([...words, '--local', '-f', file, '--server=https://127.0.0.1:1'])
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

test('an editor changes what files create, and what they name', async () => {
  const { run, server, folder } = start()
  const maps = server.client.core.v1.configMaps('default')
  const file = join(folder, 'edited.json')
  writeFileSync(file, map('drafted'))
  const editing = (script: string, ...words: readonly string[]) => run([...words, '-f', file], '', { EDITOR: `sed -i '${script}'` })
  assert.match((await editing('', 'create', '--edit')).stderr, /no changes made/)
  assert.equal(await maps.find('drafted'), undefined)
  assert.equal((await editing('s/a: b/a: c/', 'create', '--edit')).stdout, 'configmap/drafted created\n')
  const line = '"a": "c"'
  const edited = await editing(`s/${line}/"a": "d"/`, 'edit', '-o', 'json', '--output-patch', '--windows-line-endings')
  assert.equal(edited.stdout, 'Patch: {"data":{"a":"d"}}\nconfigmap/drafted edited\n', edited.stderr)
  // What others write meanwhile stays.
  const late = await run(['edit', 'cm', 'drafted'], '', {
    EDITOR: `sh -c 'sed -i s/a:.d/a:\\ e/ "$0"; node ${join(repoRoot, 'bin', 'clusterctl')} patch cm drafted --type=merge -p "{\\"data\\":{\\"z\\":\\"1\\"}}"'`,
  })
  assert.equal(late.code, 0, late.stderr)
  assert.deepEqual((await maps.get('drafted')).data, { a: 'e', z: '1' })
})

test('--save-config keeps what a command, an editor or a draft wrote', async () => {
  const { run, server, folder } = start()
  const maps = server.client.core.v1.configMaps('default')
  const kept = async (name: string): Promise<unknown> => {
    const annotations = (await maps.get(name)).metadata?.annotations ?? {}
    const text = annotations['kubectl.cluster.io/last-applied-configuration']
    return text === undefined ? undefined : (JSON.parse(text) as { readonly data: unknown }).data
  }
  await run(['create', 'configmap', 'plain', '--from-literal=a=1'])
  assert.equal(await kept('plain'), undefined)
  await run(['create', 'configmap', 'saved', '--from-literal=a=1', '--save-config'])
  assert.deepEqual(await kept('saved'), { a: '1' })
  const EDITOR = `sed -i 's/a: "1"/a: "2"/'`
  await run(['edit', 'cm', 'saved'], '', { EDITOR })
  assert.deepEqual([(await maps.get('saved')).data, await kept('saved')], [{ a: '2' }, { a: '1' }])
  await run(['edit', 'cm', 'plain', '--save-config'], '', { EDITOR })
  assert.deepEqual(await kept('plain'), { a: '2' })
  const file = join(folder, 'draft.json')
  writeFileSync(file, map('draft'))
  await run(['create', '--edit', '--save-config', '-f', file], '', { EDITOR: `sed -i 's/a: b/a: c/'` })
  assert.deepEqual(await kept('draft'), { a: 'c' })
})

test('diff shows what would be pruned, and leaves the showing to a program', async () => {
  const { here, run, server } = start()
  await server.client.core.v1.namespaces().create({ metadata: { name: 'compared' } })
  assert.equal((await here(['apply', '-f', '-', '-n', 'compared'], `${map('kept')}\n---\n${map('gone')}`)).code, 0)
  const words = ['diff', '-f', '-', '-n', 'compared', '--prune']
  const shown = await here(words, map('kept'))
  assert.equal(shown.code, 1, shown.stderr)
  assert.match(shown.stdout, /^--- live\/compared\/configmap\/gone\n\+\+\+ merged\/compared\/configmap\/gone\n/)
  assert.match(shown.stdout, /^- {2}name: gone$/m)
  const external = await run(words, map('kept'), { KUBECTL_EXTERNAL_DIFF: 'diff -rq' })
  assert.equal(external.code, 1)
  assert.match(external.stdout, /^Only in .*LIVE: v1\.ConfigMap\.compared\.gone\n$/)
  assert.equal((await run(words, map('kept'), { KUBECTL_EXTERNAL_DIFF: 'true' })).code, 0)
  const none = await run(words, map('kept'), { KUBECTL_EXTERNAL_DIFF: 'no-such-program' })
  assert.deepEqual([none.code, /failed to run "no-such-program"/.test(none.stderr)], [2, true])
})

test('apply says what kubectl says, and forces what cannot be changed where it is told to', async () => {
  const { here, server } = start()
  const fixed = (value: string): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fixed' }, immutable: true, data: { a: value } })
  assert.equal((await here(['apply', '--server-side', '-f', '-'], fixed('1'))).stdout, 'configmap/fixed serverside-applied\n')
  assert.match((await here(['apply', '-f', '-'], fixed('2'))).stderr, /field is immutable/)
  assert.equal((await here(['apply', '--force', '-f', '-'], fixed('2'))).stdout, 'configmap/fixed configured\n')
  assert.equal((await server.client.core.v1.configMaps('default').get('fixed')).data?.['a'], '2')
  assert.match(
    (await here(['apply', '--force', '--server-side', '-f', '-'], fixed('3'))).stderr,
    /--force cannot be used with --server-side/,
  )
  assert.match((await here(['replace', '--grace-period=3', '-f', '-'], fixed('3'))).stderr, /--grace-period must have --force specified/)
  const replaced = await here(['replace', '--force', '--grace-period=0', '--timeout=60s', '--cascade=orphan', '-f', '-'], fixed('3'))
  assert.equal(replaced.stdout, 'configmap/fixed replaced\n', replaced.stderr)
  const pruned = await here(
    ['apply', '-f', '-', '--prune', '-l', 'p', '--wait', '--cascade=foreground', '--grace-period=0'],
    labelled('one'),
  )
  assert.equal(pruned.code, 0, pruned.stderr)
  const again = await here(['apply', '-f', '-', '--prune', '-l', 'p', '--wait', '--cascade=foreground'], labelled('second'))
  assert.equal(again.stdout, 'configmap/second created\nconfigmap/one pruned\n', again.stderr)
})

const labelled = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { p: 'q' } }, data: { a: 'b' } })
