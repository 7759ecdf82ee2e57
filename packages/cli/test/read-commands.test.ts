// Flags of get, describe, wait, delete, auth, explain, rollout, scale; expected output is that of kubectl v1.27.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLines } from './assert-lines.js'
import { useServer } from './harness.js'

const start = useServer()

test('get joins pages into one table; --server-print=false shows names and ages', async () => {
  const { server, runHere } = start()
  const maps = server.client.core.v1.configMaps('default')
  for (const name of ['a', 'much-longer']) await maps.create({ metadata: { name, labels: { read: 'x' } }, data: { a: '1' } })
  const get = async (...args: readonly string[]): Promise<string> => (await runHere(['get', 'cm', '-l', 'read', ...args])).stdout
  assert.match(await get('--chunk-size=1'), /^NAME {10}DATA {3}AGE\na {13}1 {6}\d+s\nmuch-longer {3}1 {6}\d+s\n$/)
  assert.match(
    await get('--server-print=false', '--show-labels'),
    /^NAME {10}AGE {3}LABELS\na {13}\d+s +read=x\nmuch-longer {3}\d+s +read=x\n$/,
  )
  assert.match(await get('-o', 'jsonpath={.items[0].metadata.managedFields[0].operation}'), /^Update$/, 'templates see managedFields')
  assert.match(await get('-o', 'json'), /^(?!.*managedFields)/s)
})

test('contradicting flags are rejected', async () => {
  const { runHere } = start()
  const cases: readonly (readonly [string, RegExp])[] = [
    ['get cm --output-watch-events', /can only be used with --watch/],
    ['get cm a --subresource=log', /Must be one of \[status scale\]/],
    ['get cm -l read --sort-by=.nope', /couldn't find any field with path "\{\.nope\}" in the list of objects/],
    ['get cm -k folder', /kustomizations are not supported: .*clusterctl get -f -/],
    ['apply -k folder', /kustomizations are not supported/],
    ['delete cm --all -l read', /setting 'all' parameter but found a non empty selector/],
    ['delete cm a --now --grace-period=3', /--now and --grace-period cannot be specified together/],
    ['delete cm a --force --grace-period=3', /cannot be specified together/],
    ['wait cm/a --for=jsonpath={.data.a}=', /jsonpath wait condition cannot be empty/],
    ['wait cm -l none --for=condition=x', /no matching resources found/],
    ['get cm -o jsonpath', /template format specified but no template given/],
    ['get cm -o go-template={{.x', /error parsing template .*unclosed action/],
  ]
  for (const [line, errorPattern] of cases) {
    const { code, stdout, stderr } = await runHere(line.split(' '))
    assert.deepEqual([code, stdout], [1, ''], line)
    assert.match(stderr, errorPattern, line)
  }
  assert.equal((await runHere(['wait', 'cm', '-l', 'none', '--for=delete'])).code, 0)
})

test('delete with a grace period of 0 requires --force', async () => {
  const { server, runHere } = start()
  const pods = server.client.core.v1.pods('default')
  await server.client.core.v1.nodes().create({ metadata: { name: 'slow' } })
  await pods.create({ metadata: { name: 'slow' }, spec: { nodeName: 'slow', containers: [{ name: 'a', image: 'b' }] } })
  await runHere(['delete', 'pod', 'slow', '--grace-period=0', '--wait=false'])
  assert.equal((await pods.get('slow')).metadata?.deletionGracePeriodSeconds, 1)
  const { stdout, stderr } = await runHere(['delete', 'pod', 'slow', '--force'])
  assert.equal(stdout, 'pod "slow" force deleted\n')
  assert.match(stderr, /^Warning: Immediate deletion does not wait/)
  assert.equal(await pods.find('slow'), undefined)
})

test('auth can-i --list has one row per resource; unserved resources can be checked', async () => {
  const { runHere, ok } = start()
  await ok('create', 'role', 'one', '--verb=get', '--resource=pods,pods/log')
  await ok('create', 'role', 'two', '--verb=list', '--resource=pods')
  for (const role of ['one', 'two']) await ok('create', 'rolebinding', role, `--role=${role}`, '--user=reader')
  const { stdout } = await runHere(['auth', 'can-i', '--list', '--as=reader', '--no-headers'])
  assertLines(
    stdout,
    /^selfsubjectaccessreviews\S+ +\[\] +\[\] +\[create\]$/,
    /^pods +\[\] +\[\] +\[get list\]$/,
    /^pods\/log +\[\] +\[\] +\[get\]$/,
  )
  const denied = await runHere(['auth', 'can-i', 'get', 'nope.example.com', '--as=reader'])
  assert.deepEqual([denied.code, denied.stdout], [1, 'no\n'])
  assert.match(denied.stderr, /doesn't have a resource type 'nope' in group 'example\.com'/)
})

test('explain sorts fields by name', async () => {
  const { runHere } = start()
  const { stdout } = await runHere(['explain', 'deployment.spec', '--recursive'])
  assertLines(
    stdout,
    /^ {3}minReadySeconds\t<integer>$/,
    /^ {3}replicas\t/,
    /^ {3}selector\t/,
    /^ {6}matchExpressions\t/,
    /^ {6}matchLabels\t/,
  )
})

test('auth reconcile adds selectors of aggregated roles, and labels', async () => {
  const { run, ok } = start()
  const reconcile = async (object: object, ...flags: readonly string[]): Promise<string> =>
    (await run(['auth', 'reconcile', '-f', '-', ...flags], JSON.stringify(object))).stdout
  const role = (value: string, metadata: object = {}) => ({
    apiVersion: 'rbac.authorization.cluster.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'of-many', ...metadata },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: value } }] },
  })
  assert.match(await reconcile(role('a')), /reconciled: created/)
  assert.match(await reconcile(role('a')), /unchanged/)
  assert.match(await reconcile(role('b', { labels: { x: 'y' } })), /1 added, 0 removed/)
  const parts = 'jsonpath={.aggregationRule.clusterRoleSelectors[*].matchLabels.part} {.metadata.labels.x}'
  assert.equal(await ok('get', 'clusterrole', 'of-many', '-o', parts), 'a b y')
  assert.match(await reconcile(role('b'), '--remove-extra-permissions'), /0 added, 1 removed/)
  assert.equal(await ok('get', 'clusterrole', 'of-many', '-o', parts), 'b y')
  await ok('annotate', 'clusterrole', 'of-many', 'rbac.authorization.cluster.io/autoupdate=false')
  assert.match(await reconcile(role('c')), /skipped: autoupdate is false/)
})

test('describe accepts a name prefix; rollout restart accepts a type alone', async () => {
  const { server, runHere } = start()
  const maps = server.client.core.v1.configMaps('default')
  for (const name of ['begin-1', 'begin-2']) await maps.create({ metadata: { name } })
  assertLines((await runHere(['describe', 'cm', 'begin'])).stdout, /^Name: +begin-1$/, /^Name: +begin-2$/)
  const { code, stderr } = await runHere(['describe', 'cm/begin'])
  assert.deepEqual([code, stderr], [1, 'Error from server (NotFound): configmaps "begin" not found\n'])
  for (const name of ['r1', 'r2'])
    await server.client.apps.v1.deployments('default').create({
      metadata: { name },
      spec: {
        selector: { matchLabels: { name } },
        template: { metadata: { labels: { name } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
      },
    })
  assert.equal((await runHere(['rollout', 'restart', 'deployment'])).stdout, 'deployment.apps/r1 restarted\ndeployment.apps/r2 restarted\n')
  const timedOut = await runHere(['scale', 'deployment', 'r1', '--replicas=3', '--timeout=10ms'])
  assert.deepEqual([timedOut.code, timedOut.stdout], [1, ''])
  assert.match(timedOut.stderr, /timed out waiting for the condition on deployments\/r1/)
})

test('get -w prints one line per event and ends at --request-timeout', async () => {
  const { server, runHere } = start()
  const maps = server.client.core.v1.configMaps('default')
  for (const name of ['w1', 'w2-longer']) await maps.create({ metadata: { name, labels: { watched: 'x' } } })
  // Retries with longer timeouts on slow machines.
  const watch = async (...args: readonly string[]): Promise<string> => {
    for (const seconds of ['300ms', '3s', '30s']) {
      const { code, stdout } = await runHere(['get', 'cm', '-l', 'watched', '-w', `--request-timeout=${seconds}`, ...args])
      if (code === 0) return stdout
    }
    throw new Error('the watch failed with all timeouts')
  }
  const lines = (await watch('--output-watch-events', '-o', 'json')).trimEnd().split('\n')
  assert.deepEqual(
    lines
      .map((line) => (JSON.parse(line) as { readonly object: { readonly metadata: object } }).object.metadata)
      .map((one) => 'uid' in one),
    [true, true],
  )
  assert.match(lines[0] ?? '', /^\{"type":"ADDED","object":\{"apiVersion":"v1",/)
  const [named, columns, documents] = await Promise.all([
    watch('--output-watch-events', '-o', 'name'),
    watch('-o', 'custom-columns=N:.metadata.name,K:.kind'),
    watch('-o', 'yaml'),
  ])
  assert.equal(named, 'configmap/w1\nconfigmap/w2-longer\n')
  assert.equal(columns, 'N           K\nw1          ConfigMap\nw2-longer   ConfigMap\n')
  assert.match(documents, /^apiVersion: v1\n[\s\S]*\n---\napiVersion: v1\n/)
})

test('flags of kubectl are accepted or rejected with the same exit code', async () => {
  const { runHere, server } = start()
  await server.client.core.v1.configMaps('default').create({ metadata: { name: 'known', labels: { known: 'x' } } })
  const cases: readonly (readonly [line: string, code: number, expected: RegExp])[] = [
    ['get --raw /readyz -o yaml', 1, /--raw and --output are mutually exclusive/],
    ['get cm --subresource=status', 1, /subresource cannot be used when bulk resources are specified/],
    ['get cm none none2 -o name', 1, /"none" not found[\s\S]*"none2" not found/],
    ['get cm known -o jsonpath={.metadata["name"]}', 1, /invalid array index "name": a name stands in single quotes/],
    ['get cm known -o jsonpath={.metadata[name]}', 1, /error parsing jsonpath .*, invalid array index name/],
    ['get cm known -o jsonpath={kind}', 1, /unrecognized identifier kind/],
    ['get cm known -o name -v=6', 0, /GET https:\S+\/configmaps\/known 200 in \d+ milliseconds/],
    ['delete cm known -o yaml', 1, /We only support '-o name'/],
    ['patch cm known -p {} --patch-file=x', 1, /cannot specify --patch and --patch-file together/],
    ['label cm --all a=b --resource-version=1', 1, /may only be used with a single resource/],
    ['annotate cm known none-', 0, /^configmap\/known annotated\n$/],
    ['label cm known n=1 --list', 0, /^known=x\nn=1\n$/],
    ['label cm -l known --list', 0, /^Listing labels for ConfigMap\.\/known:\n known=x\n$/],
    ['wait cm/known --for=jsonpath={.metadata.labels}=x', 1, /jsonpath leads to a nested object or list/],
    ['wait cm/known --for=jsonpath={.metadata.name}=known -o jsonpath={.kind}', 0, /^ConfigMap$/],
    ['create clusterrole r --verb=get --non-resource-url=x', 1, /nonResourceURL should start with \//],
    ['create configmap c --from-file=a=b=c', 1, /cannot contain '='/],
    ['create configmap c --validate=odd', 1, /invalid --validate option "odd"/],
    ['create token default --duration=-1s', 1, /--duration must be positive/],
    ['auth can-i get pods one', 1, /you must specify two arguments/],
    ['auth can-i get pods --list', 1, /list option must be specified with no arguments/],
    ['auth can-i eat pods', 0, /Warning: verb 'eat' is not a known verb/],
    ['auth can-i get nodes', 0, /Warning: resource 'nodes' is not namespace scoped/],
    ['auth can-i impersonate users', 0, /^yes\n$/],
    ['explain cm --output=odd', 1, /unrecognized format: odd/],
    ['config view --merge=false', 0, /kind: Config/],
    ['describe cm -l known --chunk-size=1', 0, /^Name: +known\n/],
    ['events --chunk-size=1', 0, /No events found/],
    ['version --short --client', 0, /^Client Version: /],
    ['--odd', 1, /unknown flag: --odd/],
  ]
  for (const [line, code, expected] of cases) {
    const output = await runHere(line.split(' '))
    assert.equal(output.code, code, `${line}: ${output.stdout}${output.stderr}`)
    assert.match(output.stdout + output.stderr, expected, line)
  }
})

test('scale -o prints the scaled object', async () => {
  const { runHere, server } = start()
  const labels = { app: 'scaled' }
  await server.client.apps.v1.deployments('default').create({
    metadata: { name: 'scaled' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'b' }] } } },
  })
  const scale = (...args: readonly string[]) =>
    runHere(['scale', 'deployment', 'scaled', '-o', 'jsonpath={.kind} {.spec.replicas}', ...args])
  assert.equal((await scale('--replicas=2', '--dry-run=server')).stdout, 'Deployment 2')
  assert.equal((await scale('--replicas=3')).stdout, 'Deployment 3')
  assert.equal(
    (await runHere(['patch', 'deployment', 'scaled', '--subresource=scale', '--type=merge', '-p', '{"spec":{"replicas":4}}'])).stdout,
    'scale.autoscaling/scaled patched\n',
  )
  assert.match((await runHere(['scale', 'deployment', 'none', '--replicas=1'])).stderr, /deployments\.apps "none" not found/)
})
