// kubectl (Debian): apply client-side and server-side, diff, prune.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '../kit/fixtures.js'
import { kubectlSuite } from './kubectl-suite.js'
import { deploymentOf, podOf } from './manifests.js'

kubectlSuite({ title: 'kubectl apply' }, (fixture) => {
  test('client-side apply: two updates, one removes a field', async () => {
    const kubectl = await fixture().inNewNamespace()
    assert.match(await kubectl.send('apply -f -', deploymentOf('web')), /deployment\.apps\/web created/)
    const { metadata } = await kubectl.json('get deployment web')
    assert.ok(metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'])
    assert.match(await kubectl.send('apply -f -', deploymentOf('web')), /unchanged/)
    await kubectl.ok('scale deployment web --replicas=6')
    await kubectl.ok('set env deployment/web ADDED=elsewhere')
    const { replicas: _, ...spec } = deploymentOf('web', { image: 'registry.example/web:2' }).spec
    const second = { ...deploymentOf('web'), metadata: { name: 'web', labels: { app: 'web', tier: 'front' } }, spec }
    assert.match(await kubectl.send('apply -f -', second), /configured/)
    const containers = 'jsonpath={range .spec.template.spec.containers[0]}{.image} {.env[*].name}{end}'
    assert.equal(await kubectl.ok('get deployment web -o', containers), 'registry.example/web:2 COLOUR SIZE ADDED')
    // The last configuration had replicas and this one has none, so the field is reset to its default.
    assert.equal(await kubectl.ok('get deployment web -o', 'jsonpath={.spec.replicas} {.metadata.labels.tier}'), '1 front')
    const third = { ...second, metadata: { name: 'web', labels: { app: 'web' } } }
    assert.match(await kubectl.send('apply -f -', third), /configured/)
    const after = await kubectl.json('get deployment web')
    assert.deepEqual([after.metadata.labels, after.metadata.uid], [{ app: 'web' }, metadata.uid])
  })

  test('view-last-applied and set-last-applied', async () => {
    const kubectl = await fixture().inNewNamespace()
    await kubectl.send('apply -f -', map({ a: '1' }))
    assert.match(await kubectl.ok('apply view-last-applied configmap map'), /data:\n {2}a: "1"/)
    await kubectl.send('create -f -', { ...map({}), metadata: { name: 'other' } })
    await kubectl.send('apply set-last-applied --create-annotation -f -', { ...map({}), metadata: { name: 'other' } })
    assert.match(await kubectl.ok('apply view-last-applied configmap other'), /name: other/)
  })

  test('--prune deletes objects that are no longer applied', async () => {
    const kubectl = await fixture().inNewNamespace()
    const labelled = (name: string) => ({ ...map({ a: '1' }), metadata: { name, labels: { set: 'one' } } })
    await kubectl.send('apply -f -', labelled('keep'), labelled('drop'))
    const line = 'apply --prune -l set=one --prune-whitelist=core/v1/ConfigMap -f -'
    const allowed = kubectl.access.minor < 26 ? line : line.replace('prune-whitelist', 'prune-allowlist')
    assert.match(await kubectl.send(allowed, labelled('keep')), /configmap\/drop pruned/)
    assert.equal(await kubectl.ok('get configmaps -l set=one -o name'), 'configmap/keep\n')
  })

  test('server-side after client-side apply: no conflict with its own fields', async () => {
    const kubectl = await fixture().inNewNamespace()
    await kubectl.send('apply -f -', deploymentOf('web'))
    const apply = 'apply --server-side -f -'
    const errorPattern = /conflict with "kubectl-client-side-apply".*\.spec\.replicas/s
    await kubectl.fails(`${apply} --field-manager=other`, errorPattern, deploymentOf('web', { replicas: 3 }))
    assert.match(await kubectl.send(apply, deploymentOf('web', { replicas: 3 })), /serverside-applied/)
    assert.equal(await kubectl.ok('get deployment web -o', 'jsonpath={.spec.replicas}'), '3')
    assert.match(await kubectl.ok('apply view-last-applied deployment web'), /replicas: 3/)
  })

  test('diff', async () => {
    const kubectl = await fixture().inNewNamespace()
    await kubectl.send('apply -f -', deploymentOf('web'))
    const same = await kubectl.run('diff -f -', [], JSON.stringify(deploymentOf('web')))
    assert.equal(same.code, 0, same.stderr + same.stdout)
    const other = await kubectl.run('diff -f -', [], JSON.stringify(deploymentOf('web', { replicas: 9 })))
    assert.equal(other.code, 1, other.stderr)
    assert.match(other.stdout, /^- {2}replicas: 2\n\+ {2}replicas: 9$/m)
    const onServer = await kubectl.run(
      'diff --server-side --force-conflicts -f -',
      [],
      JSON.stringify(deploymentOf('web', { replicas: 9 })),
    )
    assert.match(onServer.stdout, /^\+ {2}replicas: 9$/m, onServer.stderr)
    assert.equal(await kubectl.ok('get deployment web -o', 'jsonpath={.spec.replicas}'), '2')
  })

  test('diff: server-set fields are no difference', async () => {
    const kubectl = await fixture().inNewNamespace()
    const pod = podOf('one', {}, { tolerations: [{ key: 'own', operator: 'Exists' }] })
    await kubectl.send('apply -f -', pod)
    // Timestamps have a resolution of one second.
    await sleep(1100)
    const { code, stdout, stderr } = await kubectl.run('diff -f -', [], JSON.stringify(pod))
    assert.deepEqual({ code, stdout }, { code: 0, stdout: '' }, stderr)
  })
})

const map = (data: Readonly<Record<string, string>>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'map' }, data })
