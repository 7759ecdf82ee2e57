// What clusterctl does that other command lines do not, or do otherwise: owners, conflicts, pruning, messages, completion.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import { play } from './play.js'

const start = play()
const map = (name: string, data: object, labels: object = {}): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...labels }, data })

test('apply makes, changes and leaves alone, and a dry run does not', async () => {
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

test('a conflict says who owns what since when, and what to do', async () => {
  const { run, ok } = start()
  await run(['apply', '-f', '-', '--field-manager=robot'], map('c', { x: '1', y: '1' }))
  const refused = await run(['apply', '-f', '-'], map('c', { x: '2' }))
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^error: Apply failed with 1 conflict: configmap\/c has fields that belong to somebody else:\n {2}\.data\.x is owned by "robot" \(Apply\) since \d{4}-\d\d-\d\dT[\d:]+Z\n/,
  )
  assert.match(refused.stderr, /--force-conflicts/)
  assert.equal((await run(['apply', '-f', '-', '--force-conflicts'], map('c', { x: '2' }))).stdout, 'configmap/c configured\n')
  const blame = await ok('blame', 'cm/c', '--no-headers')
  assert.match(blame, /^\.data\.x +2 +clusterctl +Apply +\d{4}-/m)
  assert.match(blame, /^\.data\.y +1 +robot +Apply +\d{4}-/m)
  // What it wrote itself in another way is its own.
  await ok('patch', 'cm', 'c', '--type=merge', '-p', '{"data":{"z":"1"}}')
  assert.equal((await run(['apply', '-f', '-'], map('c', { x: '2', z: '2' }))).stdout, 'configmap/c configured\n')
})

test('diff that cannot be told has another exit code than one that shows something', async () => {
  const { run } = start()
  for (const words of [[], ['--bogus'], ['-f', '/none'], ['extra']]) assert.equal((await run(['diff', ...words])).code, 2, words.join(' '))
})

test('diff shows what would change, and its exit code says whether something would', async () => {
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

test('prune deletes what was applied before and is not in the files any more, and nothing else', async () => {
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

test('a file may hold a definition and objects of it, in any order', async () => {
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
  const made = await run(['apply', '-f', '-'], list)
  assert.equal(
    made.stdout,
    'customresourcedefinition.apiextensions.cluster.io/wares.cli.example.com created\nware.cli.example.com/apple created\n',
    made.stderr,
  )
  assert.equal(await ok('get', 'wares', 'apple', '-o', 'jsonpath={.price}'), '3')
  // Whatever of it goes first, and whoever holds the rest of it up: all of it is gone in the end.
  const both = 'customresourcedefinition.apiextensions.cluster.io "wares.cli.example.com" deleted\nware.cli.example.com "apple" deleted\n'
  const away = await run(['delete', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [definition, ware] }))
  assert.deepEqual([away.stdout, away.code], [both, 0], away.stderr)
  const held = { ...ware, metadata: { ...ware.metadata, finalizers: ['cli.example.com/held'] } }
  const second = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [definition, held] })
  assert.equal((await run(['apply', '-f', '-'], second)).code, 0)
  const going = run(['delete', '-f', '-'], second)
  while ((await ok('get', 'ware', 'apple', '-o', 'jsonpath={.metadata.deletionTimestamp}')) === '');
  await ok('patch', 'ware', 'apple', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  const { stdout, stderr, code } = await going
  assert.deepEqual([stdout, code], [both, 0], stderr)
})

test('edit sends what an editor made of the object, and keeps what could not be sent', async () => {
  const { run, ok, folder } = start()
  await ok('create', 'configmap', 'e', '--from-literal=x=1')
  const editor = (script: string): { EDITOR: string } => ({ EDITOR: `sed -i '${script}'` })
  assert.equal((await run(['edit', 'cm', 'e'], '', editor('s/x: "1"/x: "2"/'))).stdout, 'configmap/e edited\n')
  assert.equal(await ok('get', 'cm', 'e', '-o', 'jsonpath={.data.x}'), '2')
  assert.match((await run(['edit', 'cm', 'e'], '', editor('s/x/x/'))).stderr, /no changes made/)
  const wrong = await run(['edit', 'cm', 'e'], '', editor('s/name: e/name: other/'))
  assert.equal(wrong.code, 1)
  const file = /what you wrote is in (\S+)/.exec(wrong.stderr)?.[1] ?? ''
  assert.match(readFileSync(file, 'utf8'), /name: other/)
  const leftOf = async (editorLine: string): Promise<readonly string[]> => {
    const scratch = mkdtempSync(join(folder, 'scratch-'))
    const { stderr } = await run(['edit', 'cm', 'e'], '', { EDITOR: editorLine, TMPDIR: scratch })
    assert.match(stderr, /EDITOR names another one/)
    return readdirSync(scratch)
  }
  assert.deepEqual(await leftOf(join(folder, 'none')), [])
  assert.equal((await leftOf('echo x >> $1; false')).length, 1, 'what was written is not lost')
})

test('wait sees conditions, values and ends, and gives up in time', async () => {
  const { run, ok, server } = start()
  await ok('create', 'configmap', 'w', '--from-literal=x=1')
  // Without time to wait it is looked at once.
  const now = (value: number) => run(['wait', 'cm/w', `--for=jsonpath={.data.x}=${value}`, '--timeout=0'])
  assert.equal((await now(1)).stdout, 'configmap/w condition met\n')
  // Longer than a timer can be set for.
  assert.equal((await run(['wait', 'cm/w', '--for=jsonpath={.data.x}=1', '--timeout=600h'])).stdout, 'configmap/w condition met\n')
  assert.equal((await now(2)).stderr, 'error: condition not met for configmaps/w\n')
  const changed = run(['wait', 'cm/w', '--for=jsonpath={.data.x}=2', '--timeout=20s'])
  await server.client.core.v1.configMaps('default').patch('w', { data: { x: '2' } })
  assert.equal((await changed).stdout, 'configmap/w condition met\n')
  const gone = run(['wait', 'cm/w', '--for=delete', '--timeout=20s'])
  await server.client.core.v1.configMaps('default').delete('w')
  // It may be gone before it was looked for.
  assert.match((await gone).stdout, /^(?:configmap\/w condition met\n)?$/)
  assert.deepEqual(await run(['wait', 'cm/w', '--for=delete']), { code: 0, stdout: '', stderr: '' })
  assert.match(
    (await run(['wait', 'ns/default', '--for=condition=Ready', '--timeout=200ms'])).stderr,
    /timed out waiting for the condition on namespaces\/default/,
  )
})

test('what several rules say of one field is told once', async () => {
  const { run } = start()
  await run(['create', 'configmap', 'once'])
  const { code, stderr } = await run(['label', 'cm', 'once', 'a b=c'])
  assert.equal(code, 1)
  assert.match(stderr, /^The ConfigMap "once" is invalid: metadata\.labels: Invalid value: "a b": name part must consist of/)
  assert.equal(stderr.split('Invalid value').length, 2)
})

test('who is not known is told so once, and a group of commands shows what is in it', async () => {
  const { run } = start()
  assert.equal((await run(['get', 'cm', '--token=nobody'])).stderr, 'error: You must be logged in to the server (Unauthorized)\n')
  for (const group of ['rollout', 'config', 'auth', 'certificate']) {
    const { code, stdout, stderr } = await run([group])
    assert.equal(code, group === 'certificate' ? 0 : 1, group)
    assert.match(stdout + stderr, new RegExp(`clusterctl ${group} `))
    assert.equal((await run([group, '--help'])).code, 0, group)
  }
  assert.equal((await run(['rollout', 'nothing'])).code, 1)
})

test('wait names what it waited for in vain', async () => {
  const { run } = start()
  await run(['create', 'deployment', 'late', '--image=a'])
  assert.equal(
    (await run(['wait', 'deployment/late', '--for=condition=Available', '--timeout=200ms'])).stderr,
    'error: timed out waiting for the condition on deployments/late\n',
  )
})

test('delete waits until finalizers are through', async () => {
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

test('get -w goes on until it is interrupted', async () => {
  const { folder, server } = start()
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'config') }
  const child = spawn(join(repoRoot, 'bin', 'clusterctl'), ['get', 'cm', '-l', 'watched', '-w', '--output-watch-events'], { env })
  let text = ''
  const seen = (part: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => (text.includes(part) ? resolve() : void child.stdout.once('data', () => setImmediate(look)))
      look()
    })
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const maps = server.client.core.v1.configMaps('default')
  // A table without rows has its header all the same.
  await seen('EVENT')
  await maps.create({ metadata: { name: 'one', labels: { watched: '' } } })
  await seen('ADDED')
  await maps.delete('one')
  await seen('DELETED')
  child.kill('SIGINT')
  const code = await new Promise((resolve) => child.on('exit', resolve))
  assert.equal(code, 130)
  assert.match(text, /^EVENT +NAME +DATA +AGE\nADDED +one +0 +\d+s\nDELETED +one /)
})

test('--raw asks for a path and shows the answer as it is', async () => {
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
  for (const [words, complaint] of [
    [['get', '--raw', `${maps}/raw`], /^Error from server \(NotFound\): configmaps "raw" not found\n$/],
    [['get', 'cm', '--raw', '/readyz'], /arguments may not be passed when --raw is specified/],
    [['get', '--raw', 'readyz'], /begins with "\/"/],
    [['create', '--raw', maps], /a single local file or stdin/],
    [['create', '--raw', maps, '-f', join(folder, 'none')], /none/],
  ] as const) {
    const { code, stderr } = await run(words)
    assert.equal(code, 1, words.join(' '))
    assert.match(stderr, complaint)
  }
})

test('messages say what to do', async () => {
  const { run, folder } = start()
  const says = async (words: readonly string[], message: RegExp, environment = {}): Promise<void> => {
    const { code, stderr } = await run(words, '', environment)
    assert.equal(code, 1, stderr)
    assert.match(stderr, message)
  }
  await says(['gett'], /unknown command "gett"; did you mean "get"\?/)
  await says(['set', 'env', 'deploy/web', 'A=B'], /there is no "set env": use "clusterctl patch"/)
  await says(['set', 'imgae', 'deploy/web', 'a=b'], /unknown command "set imgae".*image/s)
  for (const flag of ['-i', '-t', '--rm', '--attach'])
    await says(['run', 'a', '--image=x', flag], /nobody is attached .* "clusterctl exec -it"/)
  await says(['run', 'a', '--image=x y'], /Invalid image name "x y": invalid reference format/)
  await says(['run', 'a', '--image=x', '--labels=bad'], /unexpected label spec: bad/)
  await says(['run', 'a'], /required flag\(s\) "image" not set/)
  await says(['expose'], /name an object/)
  await says(['taint', 'node', 'a', 'k:NoExecute', 'b'], /all resources must be specified before taint changes: b/)
  await says(['constructor'], /unknown command "constructor"/)
  await says(['get', 'pods', '--namespaces', 'x'], /unknown flag: --namespaces; did you mean "namespace"\?/)
  await says(['get', 'podss'], /the server doesn't have a resource type "podss"/)
  await says(['get'], /api-resources/)
  await says(['get', 'pods', '-o', 'xml'], /allowed formats are: .*\|json\|/)
  await says(['get', 'pods', '--server', 'https://127.0.0.1:1'], /nobody listens there/)
  await says(['get', 'pods', '--context', 'other'], /context "other" does not exist; there are admin@cluster/)
  await says(['get', 'pods'], /no server to talk to|no client configuration/, { KUBECONFIG: join(folder, 'none') })
  await says(['get', 'pods', '--token', 'wrong'], /logged in/)
  await says(['get', 'pods', '--as', ' '], /takes the name of a user/)
  await says(['get', 'pods', '--as', 'alice'], /Error from server \(Forbidden\): pods is forbidden: User "alice"/)
  await says(['apply', '-f', join(folder, 'none.yaml')], /none.yaml" does not exist/)
  await says(['create', 'pod', 'p', '--image=x'], /there is no "create pod"; write the object into a file/)
  await says(['create', 'secret', 's'], /create secret \(generic \| tls \| docker-registry\) NAME/)
  await says(['certificate', 'approve'], /one or more requests must be named/)
  await says(['events', '--for', 'web'], /must be in resource\/name form/)
  await says(['patch', 'ns', 'default', '--patch-file', join(folder, 'none')], /^error: open .*none: no such file or directory\n$/)
})

test('words that mean nothing are refused, and names beside selectors', async () => {
  const { run, ok } = start()
  await ok('create', 'configmap', 'kept')
  for (const words of [
    'version',
    'api-versions',
    'api-resources',
    'config view',
    'events',
    'apply',
    'replace',
    'auth reconcile',
    'proxy',
  ]) {
    const { code, stdout, stderr } = await run([...words.split(' '), 'extra'])
    assert.deepEqual([words, code, stdout], [words, 1, ''])
    assert.match(stderr, /^error: unexpected arguments: extra\n {2}see: clusterctl /)
  }
  for (const more of [['--all'], ['-l', 'a=b'], ['--field-selector', 'metadata.name=kept']]) {
    const { code, stderr } = await run(['delete', 'configmap', 'kept', ...more])
    assert.equal(code, 1)
    assert.match(stderr, /name cannot be provided when a selector is specified/)
  }
  await ok('delete', 'configmap', 'kept')
})

test('names that every object of JavaScript has are names like others', async () => {
  const { run, ok } = start()
  for (const [words, complaint] of [
    [['constructor'], /unknown command "constructor"/],
    [['get', 'ns', '--toString=3'], /unknown flag: --toString/],
    [['delete', 'ns', 'none', '--cascade=constructor'], /invalid cascade value \(constructor\)/],
    [['completion', 'constructor'], /name one shell/],
    [['version', '-o', 'constructor'], /--output must be/],
    [['api-resources', '--sort-by', 'constructor'], /accepts only name or kind/],
  ] as const) {
    const { code, stderr } = await run(words)
    assert.equal(code, 1, words.join(' '))
    assert.match(stderr, complaint)
  }
  await ok('create', 'configmap', 'plain')
  assert.match(await ok('get', 'cm', 'plain', '-L', 'constructor'), /plain +0 +\S+ *\n$/)
  assert.equal(await ok('label', 'cm', 'plain', 'constructor=x', 'valueOf-'), 'label "valueOf" not found.\nconfigmap/plain labeled\n')
  assert.match(await ok('get', 'cm', 'plain', '-L', 'constructor'), /CONSTRUCTOR\n.* x\n$/)
  await ok('delete', 'cm', 'plain')
})

test('what fails of a file is told with the file', async () => {
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

test('help is there for every command, and completion knows commands, flags, kinds and names', async () => {
  const { ok } = start()
  const help = await ok('help')
  for (const name of ['get', 'apply', 'blame', 'rollout undo', 'config view']) assert.match(help, new RegExp(`^ {2}${name} `, 'm'))
  assert.match(await ok('rollout', 'undo', '--help'), /--to-revision/)
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => (await ok('__complete', ...words)).trim().split('\n')
  assert.ok((await complete('ap')).includes('apply'))
  assert.deepEqual(await complete('rollout', 'p'), ['pause'])
  assert.deepEqual(await complete('constructor', ''), [''])
  assert.ok((await complete('get', '--all')).includes('--all-namespaces'))
  assert.deepEqual(await complete('get', 'configm'), ['configmaps'])
  assert.deepEqual(await complete('get', 'ns', 'def'), ['default'])
  assert.deepEqual(await complete('set', ''), ['image'])
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

test('bash puts together again what it cuts at colons and equals signs', async () => {
  const { ok } = start()
  const script = `${await ok('completion', 'bash')}
    clusterctl() { shift; printf 'asked:%s\n' "$*" >&2; printf '%s\n' $answers; }
    try() { answers=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); __clusterctl_complete; echo "\${COMPREPLY[*]}"; }
    try '--namespace=one --namespace=only' clusterctl get cm --namespace = on
    try 'system:node system:nodes' clusterctl get clusterroles system : no
    try 'jsonpath=' clusterctl get -o js
    try 'configmaps' clusterctl get confi`
  const { code, stdout, stderr } = await runToEnd('bash', ['--norc', '-c', script.replace('2>/dev/null', '')])
  assert.equal(stdout, 'one only\nnode nodes\njsonpath=\nconfigmaps\n', stderr)
  assert.equal(code, 0)
  const asked = [...stderr.matchAll(/^asked:(.*)$/gm)].map(([, words]) => words)
  assert.deepEqual(asked, ['get cm --namespace=on', 'get clusterroles system:no', 'get -o js', 'get confi'])
})

test('tokens, certificates, roles and questions about rights', async () => {
  const { run, ok, server } = start()
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
  assert.match((await run(['auth', 'reconcile', '-f', '-'], role(['get']))).stdout, /reconciled: it was missing/)
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
  assert.equal(server.user, 'admin')
})

test('flags say which server, whom to trust, and as whom', async () => {
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
  assert.match(unknown.stderr, /--certificate-authority names the right one/)
  await ok('create', 'clusterrolebinding', 'devs', '--clusterrole=view', '--group=devs')
  assert.equal((await run(['get', 'cm', '--as', 'bob', '--as-group', 'devs'])).code, 0)
  assert.equal((await run(['get', 'cm', '--as', 'bob'])).code, 1)
  // Commas are a part of names and values.
  assert.equal((await run(['get', 'cm', '--as', 'bob', '--as-group', 'devs,ops'])).code, 1)
  await ok('create', 'configmap', 'commas', '--from-literal=dsn=user=x,password=y', '--from-literal=hosts=a,b')
  assert.equal(await ok('get', 'cm', 'commas', '-o', 'jsonpath={.data}'), '{"dsn":"user=x,password=y","hosts":"a,b"}')
  assert.equal((await run(['get', 'cm', '--request-timeout=1ms', '--cache-dir', join(folder, 'empty')])).code, 1)
})

test('plain where nobody looks, colours where they are wanted', async () => {
  const { started } = start()
  const plain = await started(['get', 'ns'])
  assert.equal(plain.code, 0, plain.stderr)
  assert.match(plain.stdout, /^NAME/)
  assert.doesNotMatch(plain.stdout, /\x1b/)
  assert.match((await started(['get', 'ns', '--color=always'])).stdout, /^\x1b\[1mNAME\x1b\[0m/)
})
