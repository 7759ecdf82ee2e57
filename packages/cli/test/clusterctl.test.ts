// clusterctl against a server: apply, diff, prune, edit, wait, delete, get -w, --raw, messages, completion, global flags.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../../../test/clients/obtain.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { useServer } from './harness.js'

const start = useServer()
const map = (name: string, data: object, labels: object = {}): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...labels }, data })

test('apply prints created, unchanged and configured; a dry run stores nothing', async () => {
  const { run, ok } = start()
  const apply = async (data: object, ...flags: readonly string[]) => (await run(['apply', '-f', '-', ...flags], map('a', data))).stdout
  assert.equal(await apply({ x: '1' }, '--dry-run=server'), 'configmap/a created (server dry run)\n')
  assert.equal(await apply({ x: '1' }), 'configmap/a created\n')
  assert.equal(await apply({ x: '1' }), 'configmap/a unchanged\n')
  assert.equal(await apply({ x: '2' }, '--dry-run=server', '-o', 'jsonpath={.data.x}'), '2')
  assert.equal(await ok('get', 'cm', 'a', '-o', 'jsonpath={.data.x}'), '1')
  assert.equal(await apply({ x: '2' }), 'configmap/a configured\n')
  const unknown = await run(['apply', '-f', '-'], '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"dat":{}}')
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /dat/)
})

test('an apply conflict names field, manager, time and remedy', async () => {
  const { run, ok } = start()
  await run(['apply', '-f', '-', '--field-manager=robot'], map('c', { x: '1', y: '1' }))
  const refused = await run(['apply', '-f', '-'], map('c', { x: '2' }))
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^error: Apply failed with 1 conflict: configmap\/c has fields of other managers:\n {2}\.data\.x is owned by "robot" \(Apply\) since \d{4}-\d\d-\d\dT[\d:]+Z\n/,
  )
  assert.match(refused.stderr, /--force-conflicts/)
  assert.equal((await run(['apply', '-f', '-', '--force-conflicts'], map('c', { x: '2' }))).stdout, 'configmap/c configured\n')
  const blame = await ok('blame', 'cm/c', '--no-headers')
  assert.match(blame, /^\.data\.x +2 +clusterctl +Apply +\d{4}-/m)
  assert.match(blame, /^\.data\.y +1 +robot +Apply +\d{4}-/m)
  // The same manager's patch is no conflict.
  await ok('patch', 'cm', 'c', '--type=merge', '-p', '{"data":{"z":"1"}}')
  assert.equal((await run(['apply', '-f', '-'], map('c', { x: '2', z: '2' }))).stdout, 'configmap/c configured\n')
})

test('diff exits with 2 on failure and wrong usage', async () => {
  const { run } = start()
  for (const args of [[], ['--bogus'], ['-f', '/none'], ['extra']]) assert.equal((await run(['diff', ...args])).code, 2, args.join(' '))
})

test('diff exits with 0 without and with 1 with differences', async () => {
  const { run } = start()
  await run(['apply', '-f', '-'], map('d', { x: '1', y: '1' }))
  const same = await run(['diff', '-f', '-'], map('d', { x: '1', y: '1' }))
  assert.deepEqual([same.code, same.stdout], [0, ''])
  const other = await run(['diff', '-f', '-'], map('d', { x: '2', y: '1' }))
  assert.equal(other.code, 1)
  assert.match(other.stdout, /^--- live\/default\/configmap\/d\n\+\+\+ merged\/default\/configmap\/d\n@@ -\d+,\d+ \+\d+,\d+ @@\n/)
  assert.match(other.stdout, /^- {2}x: "1"\n\+ {2}x: "2"\n/m)
  assert.equal((await run(['diff', '-f', '-'], 'nonsense')).code, 2)
})

test('apply --prune deletes only objects that the manager applied before', async () => {
  const { run, ok } = start()
  const shop = { labels: { app: 'prune' } }
  await run(['apply', '-f', '-'], `${map('keep', {}, shop)}\n---\n${map('drop', {}, shop)}`.replaceAll('}\n---', '}\n---'))
  await ok('create', 'configmap', 'of-others')
  await ok('label', 'cm', 'of-others', 'app=prune')
  const all = await run(['apply', '-f', '-', '--prune'], map('keep', {}, shop))
  assert.match(all.stderr, /without explicitly passing --all/)
  assert.equal(
    (await run(['apply', '-f', '-', '--prune', '-l', 'app=prune', '--dry-run=server'], map('keep', {}, shop))).stdout,
    'configmap/keep unchanged (server dry run)\nconfigmap/drop pruned (server dry run)\n',
  )
  assert.equal(
    (await run(['apply', '-f', '-', '--prune', '-l', 'app=prune'], map('keep', {}, shop))).stdout,
    'configmap/keep unchanged\nconfigmap/drop pruned\n',
  )
  assert.equal(await ok('get', 'cm', '-l', 'app=prune', '-o', 'name'), 'configmap/keep\nconfigmap/of-others\n')
})

test('a file may contain a CRD and its custom resources in any order', async () => {
  const { run, ok } = start()
  const spec = { group: 'cli.example.com', scope: 'Namespaced', names: { plural: 'wares', singular: 'ware', kind: 'Ware' } }
  const versions = [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { price: { type: 'integer' } } } },
    },
  ]
  const definition = {
    apiVersion: 'apiextensions.cluster.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'wares.cli.example.com' },
    spec: { ...spec, versions },
  }
  const ware = { apiVersion: 'cli.example.com/v1', kind: 'Ware', metadata: { name: 'apple' }, price: 3 }
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [ware, definition] })
  const created = await run(['apply', '-f', '-'], list)
  assert.equal(
    created.stdout,
    'customresourcedefinition.apiextensions.cluster.io/wares.cli.example.com created\nware.cli.example.com/apple created\n',
    created.stderr,
  )
  assert.equal(await ok('get', 'wares', 'apple', '-o', 'jsonpath={.price}'), '3')
  // delete waits for the CRD and the custom resource, also if the custom resource has a finalizer.
  const both = 'customresourcedefinition.apiextensions.cluster.io "wares.cli.example.com" deleted\nware.cli.example.com "apple" deleted\n'
  const deleted = await run(['delete', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [definition, ware] }))
  assert.deepEqual([deleted.stdout, deleted.code], [both, 0], deleted.stderr)
  const finalized = { ...ware, metadata: { ...ware.metadata, finalizers: ['cli.example.com/held'] } }
  const second = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [definition, finalized] })
  assert.equal((await run(['apply', '-f', '-'], second)).code, 0)
  const deleting = run(['delete', '-f', '-'], second)
  while ((await ok('get', 'ware', 'apple', '-o', 'jsonpath={.metadata.deletionTimestamp}')) === '');
  await ok('patch', 'ware', 'apple', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  const { stdout, stderr, code } = await deleting
  assert.deepEqual([stdout, code], [both, 0], stderr)
})

test('edit sends the changes, and keeps the file on errors', async () => {
  const { run, ok, folder } = start()
  await ok('create', 'configmap', 'e', '--from-literal=x=1')
  const editor = (script: string): { EDITOR: string } => ({ EDITOR: `sed -i '${script}'` })
  assert.equal((await run(['edit', 'cm', 'e'], '', editor('s/x: "1"/x: "2"/'))).stdout, 'configmap/e edited\n')
  assert.equal(await ok('get', 'cm', 'e', '-o', 'jsonpath={.data.x}'), '2')
  assert.match((await run(['edit', 'cm', 'e'], '', editor('s/x/x/'))).stderr, /no changes made/)
  const wrong = await run(['edit', 'cm', 'e'], '', editor('s/name: e/name: other/'))
  assert.equal(wrong.code, 1)
  const file = /your changes are in (\S+)/.exec(wrong.stderr)?.[1] ?? ''
  assert.match(readFileSync(file, 'utf8'), /name: other/)
  const filesLeftBy = async (editorLine: string): Promise<readonly string[]> => {
    const scratch = mkdtempSync(join(folder, 'scratch-'))
    const { stderr } = await run(['edit', 'cm', 'e'], '', { EDITOR: editorLine, TMPDIR: scratch })
    assert.match(stderr, /set EDITOR to use another one/)
    return readdirSync(scratch)
  }
  assert.deepEqual(await filesLeftBy(join(folder, 'none')), [])
  assert.equal((await filesLeftBy('echo x >> $1; false')).length, 1, 'the changed file is kept')
})

test('wait for conditions, JSONPath values and deletion, with timeouts', async () => {
  const { run, ok, server } = start()
  await ok('create', 'configmap', 'w', '--from-literal=x=1')
  // --timeout=0 checks once.
  const waitOnce = (value: number) => run(['wait', 'cm/w', `--for=jsonpath={.data.x}=${value}`, '--timeout=0'])
  assert.equal((await waitOnce(1)).stdout, 'configmap/w condition met\n')
  // 600 hours are longer than the maximum of setTimeout.
  assert.equal((await run(['wait', 'cm/w', '--for=jsonpath={.data.x}=1', '--timeout=600h'])).stdout, 'configmap/w condition met\n')
  assert.equal((await waitOnce(2)).stderr, 'error: condition not met for configmaps/w\n')
  const changed = run(['wait', 'cm/w', '--for=jsonpath={.data.x}=2', '--timeout=20s'])
  await server.client.core.v1.configMaps('default').patch('w', { data: { x: '2' } })
  assert.equal((await changed).stdout, 'configmap/w condition met\n')
  const waiting = run(['wait', 'cm/w', '--for=delete', '--timeout=20s'])
  await server.client.core.v1.configMaps('default').delete('w')
  // The object may be deleted before the wait starts.
  assert.match((await waiting).stdout, /^(?:configmap\/w condition met\n)?$/)
  assert.deepEqual(await run(['wait', 'cm/w', '--for=delete']), { code: 0, stdout: '', stderr: '' })
  assert.match(
    (await run(['wait', 'ns/default', '--for=condition=Ready', '--timeout=200ms'])).stderr,
    /timed out waiting for the condition on namespaces\/default/,
  )
})

test('duplicate causes of an invalid object are printed once', async () => {
  const { run } = start()
  await run(['create', 'configmap', 'once'])
  const { code, stderr } = await run(['label', 'cm', 'once', 'a b=c'])
  assert.equal(code, 1)
  assert.match(stderr, /^The ConfigMap "once" is invalid: metadata\.labels: Invalid value: "a b": name part must consist of/)
  assert.equal(stderr.split('Invalid value').length, 2)
})

test('401 is one line; a command group without subcommand prints help and exits with 1', async () => {
  const { run } = start()
  assert.equal((await run(['get', 'cm', '--token=nobody'])).stderr, 'error: You must be logged in to the server (Unauthorized)\n')
  for (const group of ['rollout', 'config', 'auth', 'certificate']) {
    const { code, stdout, stderr } = await run([group])
    assert.deepEqual([code, stdout], [1, ''], group)
    assert.match(stderr, new RegExp(`clusterctl ${group} `))
    assert.equal((await run([group, '--help'])).code, 0, group)
  }
  assert.equal((await run(['rollout', 'nothing'])).code, 1)
})

test('delete waits until finalizers are removed', async () => {
  const { run, server } = start()
  const maps = server.client.core.v1.configMaps('default')
  await maps.create({ metadata: { name: 'f', finalizers: ['example.com/x'] } })
  assert.match((await run(['delete', 'cm', 'f', '--timeout=300ms'])).stderr, /timed out/)
  await maps.create({ metadata: { name: 'g', finalizers: ['example.com/x'] } })
  const deleted = run(['delete', 'cm', 'g'])
  for await (const { object } of maps.watch({ fieldSelector: 'metadata.name=g' }))
    if (object.metadata?.deletionTimestamp !== undefined) break
  await maps.patch('g', { metadata: { finalizers: null } })
  assert.deepEqual(await deleted, { code: 0, stdout: 'configmap "g" deleted\n', stderr: '' })
})

test('get -w prints events until SIGINT, then exits with 130', async () => {
  const { folder, server } = start()
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'config') }
  const child = spawn(join(repoRoot, 'bin', 'clusterctl'), ['get', 'cm', '-l', 'watched', '-w', '--output-watch-events'], { env })
  let text = ''
  const untilPrinted = (part: string): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => (text.includes(part) ? resolve() : void child.stdout.once('data', () => setImmediate(check)))
      check()
    })
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const maps = server.client.core.v1.configMaps('default')
  // An empty table has a header.
  await untilPrinted('EVENT')
  await maps.create({ metadata: { name: 'one', labels: { watched: '' } } })
  await untilPrinted('ADDED')
  await maps.delete('one')
  await untilPrinted('DELETED')
  child.kill('SIGINT')
  const code = await new Promise((resolve) => child.on('exit', resolve))
  assert.equal(code, 130)
  assert.match(text, /^EVENT +NAME +DATA +AGE\nADDED +one +0 +\d+s\nDELETED +one /)
})

test('--raw sends a request to a path and prints the response', async () => {
  const { run, ok, folder } = start()
  assert.equal(await ok('get', '--raw', '/readyz'), 'ok')
  const maps = '/api/v1/namespaces/default/configmaps'
  const object = (data: object): string => JSON.stringify({ metadata: { name: 'raw' }, data })
  const { stdout } = await run(['create', '--raw', maps, '-f', '-'], object({ a: '1' }))
  assert.equal(JSON.parse(stdout).data.a, '1')
  const file = join(folder, 'raw.json')
  writeFileSync(file, object({ a: '2' }))
  assert.equal(JSON.parse(await ok('replace', '--raw', `${maps}/raw`, '-f', file)).data.a, '2')
  assert.equal(JSON.parse(await ok('delete', '--raw', `${maps}/raw`)).status, 'Success')
  for (const [args, errorPattern] of [
    [['get', '--raw', `${maps}/raw`], /^Error from server \(NotFound\): configmaps "raw" not found\n$/],
    [['get', 'cm', '--raw', '/readyz'], /arguments may not be passed when --raw is specified/],
    [['get', '--raw', 'readyz'], /requires a path that begins with "\/"/],
    [['create', '--raw', maps], /a single local file or stdin/],
    [['create', '--raw', maps, '-f', join(folder, 'none')], /none/],
  ] as const) {
    const { code, stderr } = await run(args)
    assert.equal(code, 1, args.join(' '))
    assert.match(stderr, errorPattern)
  }
})

test('error messages name the problem and the remedy', async () => {
  const { run, folder } = start()
  const failsWith = async (args: readonly string[], message: RegExp, environment = {}): Promise<void> => {
    const { code, stderr } = await run(args, '', environment)
    assert.equal(code, 1, stderr)
    assert.match(stderr, message)
  }
  await failsWith(['gett'], /unknown command "gett"; did you mean "get"\?/)
  await failsWith(['set', 'resources', 'deploy/web'], /"set resources" is not supported: use "clusterctl patch"/)
  await failsWith(['set', 'imgae', 'deploy/web', 'a=b'], /unknown command "set imgae".*image/s)
  for (const flag of ['-i', '-t', '--rm', '--attach'])
    await failsWith(['run', 'a', '--image=x', flag], /attaching is not supported: .* "clusterctl exec -it"/)
  await failsWith(['run', 'a', '--image=x y'], /Invalid image name "x y": invalid reference format/)
  await failsWith(['run', 'a', '--image=x', '--labels=bad'], /unexpected label spec: bad/)
  await failsWith(['run', 'a'], /required flag\(s\) "image" not set/)
  await failsWith(['expose'], /an object \(TYPE NAME or TYPE\/NAME\) or a file/)
  await failsWith(['taint', 'node', 'a', 'k:NoExecute', 'b'], /all resources must be specified before taint changes: b/)
  await failsWith(['constructor'], /unknown command "constructor"/)
  await failsWith(['get', 'pods', '--namespaces', 'x'], /unknown flag: --namespaces; did you mean "namespace"\?/)
  await failsWith(['get', 'podss'], /the server doesn't have a resource type "podss"/)
  await failsWith(['get'], /api-resources/)
  await failsWith(['get', 'pods', '-o', 'xml'], /allowed formats are: .*\|json\|/)
  await failsWith(['get', 'pods', '--server', 'https://127.0.0.1:1'], /no process listens on this address/)
  await failsWith(['get', 'pods', '--context', 'other'], /context "other" does not exist; contexts: admin@cluster/)
  await failsWith(['get', 'pods'], /no client configuration was found/, { KUBECONFIG: join(folder, 'none') })
  await failsWith(['get', 'pods', '--token', 'wrong'], /logged in/)
  await failsWith(['get', 'pods', '--as', ' '], /impersonation: the user is empty/)
  await failsWith(['get', 'pods', '--as', 'alice'], /Error from server \(Forbidden\): pods is forbidden: User "alice"/)
  await failsWith(['apply', '-f', join(folder, 'none.yaml')], /none.yaml" does not exist/)
  await failsWith(['create', 'pod', 'p', '--image=x'], /unknown command "create pod"; use "create -f FILE"/)
  await failsWith(['create', 'secret', 's'], /create secret \(generic \| tls \| docker-registry\) NAME/)
  await failsWith(['certificate', 'approve'], /one or more requests \(NAME\)/)
  await failsWith(['events', '--for', 'web'], /must be in resource\/name form/)
  await failsWith(['patch', 'ns', 'default', '--patch-file', join(folder, 'none')], /^error: open .*none: no such file or directory\n$/)
})

test('surplus arguments, and names with selectors, are rejected', async () => {
  const { run, ok } = start()
  await ok('create', 'configmap', 'kept')
  for (const args of ['version', 'api-versions', 'api-resources', 'config view', 'events', 'apply', 'replace', 'auth reconcile', 'proxy']) {
    const { code, stdout, stderr } = await run([...args.split(' '), 'extra'])
    assert.deepEqual([args, code, stdout], [args, 1, ''])
    assert.match(stderr, /^error: unexpected arguments: extra\n {2}see: clusterctl /)
  }
  for (const more of [['--all'], ['-l', 'a=b'], ['--field-selector', 'metadata.name=kept']]) {
    const { code, stderr } = await run(['delete', 'configmap', 'kept', ...more])
    assert.equal(code, 1)
    assert.match(stderr, /name cannot be provided when a selector is specified/)
  }
  await ok('delete', 'configmap', 'kept')
})

test('names of Object.prototype are handled as ordinary names', async () => {
  const { run, ok } = start()
  for (const [args, errorPattern] of [
    [['constructor'], /unknown command "constructor"/],
    [['get', 'ns', '--toString=3'], /unknown flag: --toString/],
    [['delete', 'ns', 'none', '--cascade=constructor'], /invalid cascade value \(constructor\)/],
    [['completion', 'constructor'], /exactly one shell is required/],
    [['version', '-o', 'constructor'], /--output must be/],
    [['api-resources', '--sort-by', 'constructor'], /accepts only name or kind/],
  ] as const) {
    const { code, stderr } = await run(args)
    assert.equal(code, 1, args.join(' '))
    assert.match(stderr, errorPattern)
  }
  await ok('create', 'configmap', 'plain')
  assert.match(await ok('get', 'cm', 'plain', '-L', 'constructor'), /plain +0 +\S+ *\n$/)
  assert.equal(await ok('label', 'cm', 'plain', 'constructor=x', 'valueOf-'), 'label "valueOf" not found.\nconfigmap/plain labeled\n')
  assert.match(await ok('get', 'cm', 'plain', '-L', 'constructor'), /CONSTRUCTOR\n.* x\n$/)
  await ok('delete', 'cm', 'plain')
})

test('errors of objects in files name the file', async () => {
  const { run, folder } = start()
  const file = join(folder, 'one.json')
  writeFileSync(file, map('one', {}))
  for (const [verb, doing] of [
    ['replace', 'replacing'],
    ['delete', 'deleting'],
  ] as const) {
    const { code, stderr } = await run([verb, '-f', file])
    assert.equal(code, 1)
    assert.equal(stderr, `Error from server (NotFound): error when ${doing} "${file}": configmaps "one" not found\n`)
  }
})

test('help lists commands and exit codes; completion knows commands, flags, resources and names', async () => {
  const { ok } = start()
  const help = await ok('help')
  for (const name of ['get', 'apply', 'blame', 'rollout undo', 'config view']) assert.match(help, new RegExp(`^ {2}${name} `, 'm'))
  assert.match(help, /^Exit codes:\n {2}0 +success\n/m)
  assert.match(await ok('rollout', 'undo', '--help'), /--to-revision/)
  const complete = async (...args: readonly string[]): Promise<readonly string[]> => (await ok('__complete', ...args)).trim().split('\n')
  assert.ok((await complete('ap')).includes('apply'))
  assert.deepEqual(await complete('rollout', 'p'), ['pause'])
  assert.deepEqual(await complete('constructor', ''), [''])
  assert.ok((await complete('get', '--all')).includes('--all-namespaces'))
  assert.deepEqual(await complete('get', 'configm'), ['configmaps'])
  assert.deepEqual(await complete('get', 'ns', 'def'), ['default'])
  assert.deepEqual(await complete('set', ''), ['env', 'image'])
  assert.deepEqual(await complete('get', 'cm', '-n', 'def'), ['default'])
  assert.deepEqual(await complete('get', '-n', 'default', '-o', 'y'), ['yaml'])
  assert.deepEqual(await complete('get', 'cm', '--namespace=def'), ['--namespace=default'])
  assert.deepEqual(await complete('get', 'ns/def'), ['ns/default'])
  assert.deepEqual(await complete('delete', 'cm', 'x', '--cascade=o'), ['--cascade=orphan'])
  assert.deepEqual(await complete('completion', ''), ['bash', 'fish', 'zsh'])
  const context = (await ok('config', 'current-context')).trim()
  assert.deepEqual(await complete('config', 'use-context', ''), [context])
  assert.deepEqual(await complete('--context', ''), [context])
  assert.deepEqual(await complete('create', 'token', 'def'), ['default'])
  assert.deepEqual(await complete('-n', 'default', 'get', 'configm'), ['configmaps'])
  for (const shell of ['bash', 'zsh', 'fish']) assert.match(await ok('completion', shell), /__complete/)
})

test('bash completion joins words that bash split at : and =', async () => {
  const { ok } = start()
  const script = `${await ok('completion', 'bash')}
    clusterctl() { shift; printf 'words:%s\n' "$*" >&2; printf '%s\n' $candidates; }
    try() { candidates=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); __clusterctl_complete; echo "\${COMPREPLY[*]}"; }
    try '--namespace=one --namespace=only' clusterctl get cm --namespace = on
    try 'system:node system:nodes' clusterctl get clusterroles system : no
    try 'jsonpath=' clusterctl get -o js
    try 'configmaps' clusterctl get confi`
  const { code, stdout, stderr } = await runToEnd('bash', ['--norc', '-c', script.replace('2>/dev/null', '')])
  assert.equal(stdout, 'one only\nnode nodes\njsonpath=\nconfigmaps\n', stderr)
  assert.equal(code, 0)
  const completed = [...stderr.matchAll(/^words:(.*)$/gm)].map(([, words]) => words)
  assert.deepEqual(completed, ['get cm --namespace=on', 'get clusterroles system:no', 'get -o js', 'get confi'])
})

test('create token, auth can-i, auth reconcile, explain, api-resources, describe, version', async () => {
  const { run, ok } = start()
  await ok('create', 'serviceaccount', 'robot')
  const token = (await ok('create', 'token', 'robot', '--duration=20m')).trim()
  assert.match((await run(['get', 'pods', '--token', token])).stderr, /system:serviceaccount:default:robot/)
  await ok('create', 'rolebinding', 'robots', '--clusterrole=view', '--serviceaccount=default:robot')
  assert.equal((await run(['get', 'pods', '--token', token])).code, 0)
  assert.match(await ok('auth', 'can-i', '--list', '--as', 'alice'), /selfsubjectaccessreviews/)
  const group = 'rbac.authorization.cluster.io'
  const role = (verbs: readonly string[]): string =>
    JSON.stringify({
      apiVersion: `${group}/v1`,
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
    })
  assert.match((await run(['auth', 'reconcile', '-f', '-'], role(['get']))).stdout, /reconciled: created/)
  assert.match((await run(['auth', 'reconcile', '-f', '-'], role(['list']))).stdout, /1 added, 0 removed/)
  assert.match((await run(['auth', 'reconcile', '-f', '-', '--remove-extra-permissions'], role(['list']))).stdout, /0 added, 1 removed/)
  assert.match((await run(['auth', 'reconcile', '-f', '-'], role(['list']))).stdout, /unchanged/)
  assert.match(await ok('explain', 'deployment.spec.replicas'), /^FIELD: {4}replicas <integer>$/m)
  const ports = await ok('explain', 'svc.spec.ports.targetPort')
  assert.match(ports, /^FIELD: {4}targetPort <string>$/m)
  assert.match(await ok('explain', 'pods.spec.containers'), /^DESCRIPTION:\n {5}\S.*\n\n {5}\S.*\n\nFIELDS:\n/m)
  assert.match(await ok('api-resources', '--namespaced=false'), /^namespaces +ns +v1 +false +Namespace$/m)
  assert.match(await ok('describe', 'sa', 'robot'), /^Name: +robot\nNamespace: +default\n/)
  assert.match(await ok('version'), /Server Version: v1\.26/)
})

test('global flags select server, trust and user', async () => {
  const { run, ok, server, folder } = start()
  assert.match(await ok('get', 'ns', '--insecure-skip-tls-verify'), /^default +Active/m)
  const ca = join(folder, 'ca.crt')
  writeFileSync(ca, server.caPem)
  const flags = ['--server', server.url, '--token', server.token]
  assert.match(
    (await run(['get', 'ns', ...flags, '--certificate-authority', ca], '', { KUBECONFIG: join(folder, 'none') })).stdout,
    /^default /m,
  )
  const unknown = await run(['get', 'ns', ...flags], '', { KUBECONFIG: join(folder, 'none') })
  assert.match(unknown.stderr, /use --certificate-authority/)
  await ok('create', 'clusterrolebinding', 'devs', '--clusterrole=view', '--group=devs')
  assert.equal((await run(['get', 'cm', '--as', 'bob', '--as-group', 'devs'])).code, 0)
  assert.equal((await run(['get', 'cm', '--as', 'bob'])).code, 1)
  // Commas are part of group names and literals.
  assert.equal((await run(['get', 'cm', '--as', 'bob', '--as-group', 'devs,ops'])).code, 1)
  await ok('create', 'configmap', 'commas', '--from-literal=dsn=user=x,password=y', '--from-literal=hosts=a,b')
  assert.equal(await ok('get', 'cm', 'commas', '-o', 'jsonpath={.data}'), '{"dsn":"user=x,password=y","hosts":"a,b"}')
  assert.equal((await run(['get', 'cm', '--request-timeout=1ms', '--cache-dir', join(folder, 'empty')])).code, 1)
})

test('no colours in a pipe, except with --color=always', async () => {
  const { runBinary } = start()
  const output = await runBinary(['get', 'ns'])
  assert.equal(output.code, 0, output.stderr)
  assert.match(output.stdout, /^NAME/)
  assert.doesNotMatch(output.stdout, /\x1b/)
  assert.match((await runBinary(['get', 'ns', '--color=always'])).stdout, /^\x1b\[1mNAME\x1b\[0m/)
})
