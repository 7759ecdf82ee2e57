// What the flags of commands that read, wait and delete do; what is expected here is what kubectl v1.27 shows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasLines } from './has-lines.js'
import { play } from './play.js'

const start = play()

test('pages are one table, and names and ages need no columns of the server', async () => {
  const { server, here } = start()
  const maps = server.client.core.v1.configMaps('default')
  for (const name of ['a', 'much-longer']) await maps.create({ metadata: { name, labels: { read: 'x' } }, data: { a: '1' } })
  const get = async (...words: readonly string[]): Promise<string> => (await here(['get', 'cm', '-l', 'read', ...words])).stdout
  assert.match(await get('--chunk-size=1'), /^NAME {10}DATA {3}AGE\na {13}1 {6}\d+s\nmuch-longer {3}1 {6}\d+s\n$/)
  assert.match(
    await get('--server-print=false', '--show-labels'),
    /^NAME {10}AGE {3}LABELS\na {13}\d+s +read=x\nmuch-longer {3}\d+s +read=x\n$/,
  )
  assert.match(await get('-o', 'jsonpath={.items[0].metadata.managedFields[0].operation}'), /^Update$/, 'templates see who owns what')
  assert.match(await get('-o', 'json'), /^(?!.*managedFields)/s)
})

test('what means nothing, or contradicts itself, is refused', async () => {
  const { here } = start()
  const cases: readonly (readonly [string, RegExp])[] = [
    ['get cm --output-watch-events', /can only be used with --watch/],
    ['get cm a --subresource=log', /Must be one of \[status scale\]/],
    ['get cm -l read --sort-by=.nope', /couldn't find any field with path "\{\.nope\}" in the list of objects/],
    ['get cm -k folder', /kustomizations are not built here: .*clusterctl get -f -/],
    ['apply -k folder', /kustomizations are not built here/],
    ['delete cm --all -l read', /setting 'all' parameter but found a non empty selector/],
    ['delete cm a --now --grace-period=3', /--now and --grace-period cannot be specified together/],
    ['delete cm a --force --grace-period=3', /cannot be specified together/],
    ['wait cm/a --for=jsonpath={.data.a}=', /jsonpath wait condition cannot be empty/],
    ['wait cm -l none --for=condition=x', /no matching resources found/],
    ['get cm -o jsonpath', /template format specified but no template given/],
    ['get cm -o go-template={{.x', /error parsing template .*unclosed action/],
  ]
  for (const [line, complaint] of cases) {
    const { code, stdout, stderr } = await here(line.split(' '))
    assert.deepEqual([code, stdout], [1, ''], line)
    assert.match(stderr, complaint, line)
  }
  assert.equal((await here(['wait', 'cm', '-l', 'none', '--for=delete'])).code, 0)
})

test('at once is only deleted what is forced', async () => {
  const { server, here } = start()
  const pods = server.client.core.v1.pods('default')
  await server.client.core.v1.nodes().create({ metadata: { name: 'slow' } })
  await pods.create({ metadata: { name: 'slow' }, spec: { nodeName: 'slow', containers: [{ name: 'a', image: 'b' }] } })
  await here(['delete', 'pod', 'slow', '--grace-period=0', '--wait=false'])
  assert.equal((await pods.get('slow')).metadata?.deletionGracePeriodSeconds, 1)
  const { stdout, stderr } = await here(['delete', 'pod', 'slow', '--force'])
  assert.equal(stdout, 'pod "slow" force deleted\n')
  assert.match(stderr, /^Warning: Immediate deletion does not wait/)
  assert.equal(await pods.find('slow'), undefined)
})

test('rights are told once for each resource, and what is not served may be asked about', async () => {
  const { here, ok } = start()
  await ok('create', 'role', 'one', '--verb=get', '--resource=pods,pods/log')
  await ok('create', 'role', 'two', '--verb=list', '--resource=pods')
  for (const role of ['one', 'two']) await ok('create', 'rolebinding', role, `--role=${role}`, '--user=reader')
  const { stdout } = await here(['auth', 'can-i', '--list', '--as=reader', '--no-headers'])
  hasLines(
    stdout,
    /^selfsubjectaccessreviews\S+ +\[\] +\[\] +\[create\]$/,
    /^pods +\[\] +\[\] +\[get list\]$/,
    /^pods\/log +\[\] +\[\] +\[get\]$/,
  )
  const asked = await here(['auth', 'can-i', 'get', 'nope.example.com', '--as=reader'])
  assert.deepEqual([asked.code, asked.stdout], [1, 'no\n'])
  assert.match(asked.stderr, /doesn't have a resource type 'nope' in group 'example\.com'/)
})

test('fields are explained in the order of their names', async () => {
  const { here } = start()
  const { stdout } = await here(['explain', 'deployment.spec', '--recursive'])
  hasLines(
    stdout,
    /^ {3}minReadySeconds\t<integer>$/,
    /^ {3}replicas\t/,
    /^ {3}selector\t/,
    /^ {6}matchExpressions\t/,
    /^ {6}matchLabels\t/,
  )
})

test('reconcile adds what is missing: of aggregated roles to what they are made of, and labels', async () => {
  const { run, ok } = start()
  const reconcile = async (object: object, ...flags: readonly string[]): Promise<string> =>
    (await run(['auth', 'reconcile', '-f', '-', ...flags], JSON.stringify(object))).stdout
  const role = (value: string, metadata: object = {}) => ({
    apiVersion: 'rbac.authorization.cluster.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'of-many', ...metadata },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: value } }] },
  })
  assert.match(await reconcile(role('a')), /it was missing/)
  assert.match(await reconcile(role('a')), /unchanged/)
  assert.match(await reconcile(role('b', { labels: { x: 'y' } })), /1 added, 0 removed/)
  const parts = 'jsonpath={.aggregationRule.clusterRoleSelectors[*].matchLabels.part} {.metadata.labels.x}'
  assert.equal(await ok('get', 'clusterrole', 'of-many', '-o', parts), 'a b y')
  assert.match(await reconcile(role('b'), '--remove-extra-permissions'), /0 added, 1 removed/)
  assert.equal(await ok('get', 'clusterrole', 'of-many', '-o', parts), 'b y')
  await ok('annotate', 'clusterrole', 'of-many', 'rbac.authorization.cluster.io/autoupdate=false')
  assert.match(await reconcile(role('c')), /skipped: it is protected/)
})

test('a name may be the beginning of others for describe, and a type alone all of it for rollouts', async () => {
  const { server, here } = start()
  const maps = server.client.core.v1.configMaps('default')
  for (const name of ['begin-1', 'begin-2']) await maps.create({ metadata: { name } })
  hasLines((await here(['describe', 'cm', 'begin'])).stdout, /^Name: +begin-1$/, /^Name: +begin-2$/)
  const { code, stderr } = await here(['describe', 'cm/begin'])
  assert.deepEqual([code, stderr], [1, 'Error from server (NotFound): configmaps "begin" not found\n'])
  for (const name of ['r1', 'r2'])
    await server.client.apps.v1.deployments('default').create({
      metadata: { name },
      spec: {
        selector: { matchLabels: { name } },
        template: { metadata: { labels: { name } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
      },
    })
  assert.equal((await here(['rollout', 'restart', 'deployment'])).stdout, 'deployment.apps/r1 restarted\ndeployment.apps/r2 restarted\n')
  const late = await here(['scale', 'deployment', 'r1', '--replicas=3', '--timeout=10ms'])
  assert.deepEqual([late.code, late.stdout], [1, 'deployment.apps/r1 scaled\n'])
  assert.match(late.stderr, /timed out waiting for the condition on deployments\/r1/)
})

test('of files only what has the labels is created and compared', async () => {
  const { run } = start()
  const map = (name: string, kept: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { kept } } })
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [map('in', 'yes'), map('out', 'no')] })
  assert.equal((await run(['create', '-f', '-', '-l', 'kept=yes'], list)).stdout, 'configmap/in created\n')
  const { stdout } = await run(['diff', '-f', '-', '-l', 'kept=no'], list)
  assert.match(stdout, /configmap\/out\n/)
  assert.doesNotMatch(stdout, /configmap\/in\n/)
})
