// The command line client of Debian, waiting for objects and getting rid of them: conditions, rollouts, finalizers, nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep, until } from '../kit/fixtures.js'
import { kubectlSuite, skipBefore } from './kubectl-suite.js'
import { deploymentOf, nodeOf, podOf } from './manifests.js'

/** Of release 1.26, the question who one is had to be allowed first. */
const flags = ['--feature-gates=APISelfSubjectReview=true', '--runtime-config=authentication.k8s.io/v1alpha1=true']

kubectlSuite({ title: 'kubectl waits, deletes, guards', flags }, (bench) => {
  test('wait for a condition', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    await kubectl.send('create -f -', podOf('one'))
    const waiting = kubectl.run('wait --for=condition=Ready pod/one --timeout=20s')
    await sleep(500)
    const status = { status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' } }
    const path = `/api/v1/namespaces/${kubectl.access.namespace}/pods/one/status`
    assert.equal((await server.client.patch(path, 'application/merge-patch+json', status)).status, 200)
    const { code, stdout, stderr } = await waiting
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'pod/one condition met\n' }, stderr)
    assert.match(await kubectl.ok('get pod one'), /^one +0\/1 +Running /m)
    await kubectl.fails('wait --for=condition=Initialized pod/one --timeout=1s', /timed out waiting for the condition/)
  })

  test('wait for a value', skipBefore(23), async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.send('create -f -', deploymentOf('web'))
    const waiting = kubectl.run('wait --for=jsonpath={.spec.replicas}=5 deployment/web --timeout=20s')
    await sleep(500)
    await kubectl.ok('scale deployment web --replicas=5')
    assert.equal((await waiting).code, 0)
  })

  test('wait for the end', async () => {
    const { server, inNewNamespace } = bench()
    // Of a kind that nobody else watches: other tests run on the same server meanwhile.
    const watches = async (): Promise<number> => {
      const { text } = await server.client.get('/metrics')
      return [...text.matchAll(/^apiserver_longrunning_requests\{.*resource="limitranges".*\} (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      )
    }
    const kubectl = await inNewNamespace()
    await kubectl.send('create -f -', podOf('one', { finalizers: ['test.example/hold'] }))
    assert.match(await kubectl.ok('delete pod one --wait=false'), /pod "one" deleted/)
    assert.match(await kubectl.ok('get pod one'), /^one +0\/1 +Terminating /m)
    const metadata = { name: 'two', finalizers: ['test.example/hold'] }
    await kubectl.send('create -f -', { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits: [] } })
    await kubectl.ok('delete limitrange two --wait=false')
    const waiting = kubectl.run('wait --for=delete limitrange/two --timeout=60s')
    const deleting = kubectl.run('delete limitrange two --timeout=60s')
    await until(watches, (count) => count >= 2)
    for (const which of ['pod one', 'limitrange two'])
      await kubectl.ok(`patch ${which} --type=json -p`, '[{"op":"remove","path":"/metadata/finalizers"}]')
    assert.equal((await waiting).code, 0)
    assert.equal((await deleting).code, 0)
    for (const which of ['pod one', 'limitrange two']) await kubectl.fails(`get ${which}`, /NotFound/)
  })

  test('delete in its many forms', async () => {
    const kubectl = await bench().inNewNamespace()
    const pods = ['a', 'b', 'c', 'd', 'e'].map((name) => podOf(name, { labels: { name } }))
    await kubectl.send('create -f -', ...pods, deploymentOf('web'))
    assert.match(await kubectl.ok('delete pod a --now'), /pod "a" deleted/)
    assert.match(await kubectl.ok('delete pod b --grace-period=0 --force'), /pod "b" force deleted/)
    assert.match(await kubectl.ok('delete pods -l', 'name in (c)'), /pod "c" deleted/)
    assert.equal(await kubectl.ok('get pods -o name'), 'pod/d\npod/e\n')
    assert.match(await kubectl.ok('delete deployment/web pod/d'), /deployment\.apps "web" deleted\npod "d" deleted/)
    assert.match(await kubectl.ok('delete pods --all'), /pod "e" deleted/)
    await kubectl.fails('delete pod a', /Error from server \(NotFound\): pods "a" not found/)
    assert.equal(await kubectl.ok('delete pod a --ignore-not-found'), '')
    await kubectl.send('create -f -', podOf('last'))
    assert.match(await kubectl.ok('delete pod last --dry-run=client'), /dry run/)
    await kubectl.ok('delete --raw', `/api/v1/namespaces/${kubectl.access.namespace}/pods/last`)
    await kubectl.fails('get pod last', /NotFound/)
  })

  test('a namespace goes with what is in it', async () => {
    const { kubectl, inNewNamespace } = bench()
    const own = await inNewNamespace()
    await own.send('create -f -', deploymentOf('web'), podOf('one', { finalizers: ['test.example/hold'] }))
    const deleting = kubectl.run(`delete namespace ${own.access.namespace} --timeout=25s`)
    const isTerminating = (text: string): boolean => / Terminating /.test(text)
    await until(() => kubectl.ok(`get namespace ${own.access.namespace}`), isTerminating)
    await until(
      () => own.ok('get deployments -o name'),
      (text) => text === '',
    )
    await own.fails('create configmap late', /because it is being terminated/)
    await own.ok('patch pod one --type=merge -p', '{"metadata":{"finalizers":null}}')
    const { code, stderr } = await deleting
    assert.equal(code, 0, stderr)
    await kubectl.fails(`get namespace ${own.access.namespace}`, /NotFound/)
  })

  test('rollouts, as far as nobody rolls out', async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.send('create -f -', deploymentOf('web'))
    assert.match(await kubectl.ok('rollout status deployment/web --watch=false'), /Waiting for deployment/)
    assert.match(await kubectl.ok('rollout history deployment/web'), /No rollout history found|REVISION +CHANGE-CAUSE/)
    assert.match(await kubectl.ok('rollout restart deployment/web'), /deployment\.apps\/web restarted/)
    const annotations = 'jsonpath={.spec.template.metadata.annotations}'
    assert.match(await kubectl.ok('get deployment web -o', annotations), /kubectl\.kubernetes\.io\/restartedAt/)
    assert.match(await kubectl.ok('rollout pause deployment/web'), /paused/)
    await kubectl.fails('rollout restart deployment/web', /paused/)
    assert.match(await kubectl.ok('rollout resume deployment/web'), /resumed/)
    await kubectl.fails('rollout undo deployment/web', /no rollout history found|no last revision/)
  })

  test('back to an earlier revision', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    await kubectl.send('create -f -', deploymentOf('web', { image: 'registry.example/web:2' }))
    const { metadata } = await kubectl.json('get deployment web')
    for (const revision of [1, 2]) await kubectl.send('create -f -', replicaSetOf(metadata.uid, revision))
    assert.match(await kubectl.ok('rollout history deployment/web'), /^1 +<none>\n2 +<none>$/m)
    assert.match(await kubectl.ok('rollout history deployment/web --revision=1'), /Image:\s+registry\.example\/web:1/)
    const path = `/apis/apps/v1/namespaces/${kubectl.access.namespace}/deployments/web`
    const revised = { metadata: { annotations: { 'deployment.kubernetes.io/revision': '2' } } }
    await server.client.patch(path, 'application/merge-patch+json', revised)
    assert.match(await kubectl.ok('rollout undo deployment/web --to-revision=1'), /rolled back/)
    const image = 'jsonpath={.spec.template.spec.containers[0].image}'
    assert.equal(await kubectl.ok('get deployment web -o', image), 'registry.example/web:1')
  })

  test('a disruption budget holds up a drain', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    const node = `guarded-by-${kubectl.access.namespace}`
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'one' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } },
    }
    await kubectl.send('create -f -', nodeOf(node), budget, podOf('one', { labels: { app: 'x' } }, { nodeName: node }))
    const merge = (path: string, body: unknown) =>
      server.client.patch(`${path.replace('~', kubectl.access.namespace ?? '')}/status`, 'application/merge-patch+json', body)
    const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
    assert.equal((await merge('/api/v1/namespaces/~/pods/one', running)).status, 200)
    const counted = { status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 } }
    assert.equal((await merge('/apis/policy/v1/namespaces/~/poddisruptionbudgets/one', counted)).status, 200)
    const { code, stderr } = await kubectl.run(`drain ${node} --force --timeout=2s`)
    assert.equal(code, 1)
    assert.match(stderr, /Cannot evict pod as it would violate the pod's disruption budget/)
    assert.equal((await kubectl.json('get pod one')).metadata.deletionTimestamp, undefined)
  })

  test('nodes: taint, cordon, drain', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    const node = `node-of-${kubectl.access.namespace}`
    await kubectl.send('create -f -', nodeOf(node), podOf('one', { labels: { app: 'x' } }, { nodeName: node }))
    assert.match(await kubectl.ok(`taint node ${node} role=db:NoSchedule`), /tainted/)
    assert.equal(await kubectl.ok(`get node ${node} -o`, 'jsonpath={.spec.taints[?(@.key=="role")].value}'), 'db')
    await kubectl.ok(`taint node ${node} role-`)
    assert.match(await kubectl.ok(`label node ${node} node-role.kubernetes.io/worker=`), /labeled/)
    assert.match(await kubectl.ok(`get node ${node}`), /Unknown +worker +/)
    assert.match(await kubectl.ok(`cordon ${node}`), /cordoned/)
    assert.match(await kubectl.ok(`get node ${node}`), /SchedulingDisabled/)
    await kubectl.fails(`drain ${node} --timeout=5s`, /declare no controller|not managed by ReplicationController/)
    const draining = kubectl.run(`drain ${node} --force --grace-period=0 --timeout=20s`)
    await sleep(700)
    // Nothing runs on this node, so nobody but the test confirms the end of the pod.
    await server.client.delete(`/api/v1/namespaces/${kubectl.access.namespace}/pods/one`, { gracePeriodSeconds: 0 })
    const { code, stderr } = await draining
    assert.equal(code, 0, stderr)
    assert.match(await kubectl.ok(`uncordon ${node}`), /uncordoned/)
  })

  test('may I?', async () => {
    const { kubectl } = bench()
    assert.equal((await kubectl.ok('auth can-i create pods')).trim(), 'yes')
    assert.match(await kubectl.ok('auth can-i --list'), /^\*\.\* +\[\] +\[\] +\[\*\]$/m)
  })

  test('may somebody else?', async () => {
    const { kubectl } = bench()
    assert.equal((await kubectl.run('auth can-i create pods --as=nobody')).stdout.trim(), 'no')
    await kubectl.ok('create clusterrole pod-reader --verb=get,list --resource=pods')
    await kubectl.ok('create clusterrolebinding jane-reads --clusterrole=pod-reader --user=jane')
    assert.equal((await kubectl.ok('auth can-i list pods --as=jane')).trim(), 'yes')
    const complaint = /Error from server \(Forbidden\): secrets is forbidden: User "jane" cannot list resource "secrets"/
    await kubectl.fails('get secrets --as=jane', complaint)
    await kubectl.ok('get pods --as=jane')
  })

  test('who am I?', skipBefore(27), async () => {
    assert.match(await bench().kubectl.ok('auth whoami'), /system:masters/)
  })

  test('signing requests are approved', async () => {
    const { kubectl } = bench()
    await kubectl.send('create -f -', signingRequest)
    assert.match(await kubectl.ok('get csr jane'), /^jane .* Pending/m)
    assert.match(await kubectl.ok('certificate approve jane'), /certificatesigningrequest\.certificates\.k8s\.io\/jane approved/)
    assert.match(await kubectl.ok('get csr jane'), /^jane .* Approved/m)
  })
})

/** As the controller of deployments leaves them behind. */
const replicaSetOf = (owner: string, revision: number) => {
  const { spec, metadata } = deploymentOf('web', { image: `registry.example/web:${revision}` })
  const labels = { ...metadata.labels, 'pod-template-hash': String(revision) }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `web-${revision}`,
      labels,
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: owner, controller: true }],
    },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: { ...spec.template, metadata: { labels } } },
  }
}

/** Made with openssl, for the user jane; nobody has its key. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHIMHECAQAwDzENMAsGA1UEAwwEamFuZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABG/7IL1tf8OUgVS60KsMjQsK60cYjC9eoH1IWkE0hp3HoIc1kniY7rHEau3c
0/HlsV+3x4VII+2jpjgjW+BszoKgADAKBggqhkjOPQQDAgNHADBEAiAVyKRDN9tc
2GXn8J4TMZfT/vDi4zl6zUADqms2xFjmWQIgZNAskBHKvLvsz9J3va+BYjolJQaj
ewTO24zISjZe+Fs=
-----END CERTIFICATE REQUEST-----
`

const signingRequest = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'jane' },
  spec: { request: Buffer.from(pem).toString('base64'), signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
}
