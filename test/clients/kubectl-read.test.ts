// kubectl (Debian): get, describe, explain, api-resources, events and raw paths.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kubectl } from './kubectl.js'
import { kubectlSuite, skipBefore } from './kubectl-suite.js'
import { deploymentOf, nodeOf, podOf, serviceOf } from './manifests.js'

kubectlSuite({ title: 'kubectl get' }, (fixture) => {
  test('api-resources', async () => {
    const { kubectl } = fixture()
    const table = await kubectl.ok('api-resources')
    assert.match(table, /^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND$/m)
    assert.match(table, /^deployments +deploy +apps\/v1 +true +Deployment$/m)
    assert.match(table, /^nodes +no +v1 +false +Node$/m)
    const ofApps = (await kubectl.ok('api-resources --api-group=apps -o name --sort-by=name')).trim().split('\n')
    assert.deepEqual(ofApps, ['controllerrevisions.apps', 'daemonsets.apps', 'deployments.apps', 'replicasets.apps', 'statefulsets.apps'])
    const clusterWide = await kubectl.ok('api-resources --namespaced=false --verbs=list,watch,create -o name')
    assert.match(clusterWide, /^namespaces$/m)
    assert.doesNotMatch(clusterWide, /^(pods|componentstatuses)$/m)
    assert.match(await kubectl.ok('api-resources -o wide'), /^configmaps .*create.*patch.*watch/m)
  })

  test('explain', async () => {
    const { kubectl } = fixture()
    const containers = await kubectl.ok('explain pod.spec.containers')
    assert.match(containers, /^KIND: +Pod$/m)
    assert.match(containers, /^VERSION: +v1$/m)
    assert.match(containers, /^ +image\t<string>$/m)
    assert.match(containers, /^ +ports\t<\[\](?:Object|ContainerPort)>$/m)
    assert.match(containers, /^ +name\t<string> -required-$/m)
    assert.match(containers, /^DESCRIPTION:\n +\S+/m)
    const everything = await kubectl.ok('explain deployment --recursive')
    assert.match(everything, /^ +maxSurge\t<(?:string|IntOrString)>$/m)
    assert.match(everything, /^ +matchLabels\t<map\[string\]string>$/m)
    assert.match(await kubectl.ok('explain hpa.spec.metrics --api-version=autoscaling/v2'), /containerResource/)
    await kubectl.fails('explain pod.spec.nonsense', /field "nonsense" does not exist/)
  })

  test('get with every output format', async () => {
    const kubectl = await createObjects(await fixture().inNewNamespace())
    const outputs: readonly { readonly line: string; readonly rest?: readonly string[]; readonly expected: RegExp }[] = [
      { line: 'get deployments', expected: /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/2 +0 +0 +\d+s\n$/ },
      { line: 'get deploy -o wide', expected: /CONTAINERS +IMAGES +SELECTOR\nweb .* web +registry\.example\/web:1 +app=web\n$/ },
      { line: 'get deploy --no-headers --show-labels', expected: /^web .* app=web\n$/ },
      { line: 'get deploy -L app', expected: /AGE +APP\nweb .* web\n$/ },
      { line: 'get deploy,svc -o name', expected: /^deployment\.apps\/web\nservice\/web\n$/ },
      {
        line: 'get svc web',
        expected: /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE\nweb +ClusterIP +[\d.]+ +<none> +80\/TCP +\d+s\n$/,
      },
      { line: 'get pods', expected: /^NAME +READY +STATUS +RESTARTS +AGE\none +0\/1 +Pending +0 +\d+s\ntwo +0\/1 +Pending +0 +\d+s\n$/ },
      { line: 'get pods -o', rest: ['jsonpath={range .items[*]}{.metadata.name},{end}'], expected: /^one,two,$/ },
      { line: 'get deploy web -o', rest: ['jsonpath={.spec.template.spec.containers[*].env[?(@.name=="SIZE")].value}'], expected: /^4$/ },
      { line: 'get pods -o custom-columns=NAME:.metadata.name,ON:.spec.nodeName', expected: /^NAME +ON\none +n1\ntwo +<none>\n$/ },
      { line: 'get deploy web -o', rest: ['go-template={{.metadata.name}}:{{.spec.replicas}}'], expected: /^web:2$/ },
      { line: 'get pods --sort-by=.spec.nodeName -o name', expected: /^pod\/two\npod\/one\n$/ },
      { line: 'get deploy web -o yaml', expected: /^apiVersion: apps\/v1\nkind: Deployment\nmetadata:\n {2}creationTimestamp: "/ },
      { line: 'get all -o name', expected: /^pod\/one\npod\/two\nservice\/web\ndeployment\.apps\/web\n$/ },
    ]
    for (const { line, rest = [], expected } of outputs) assert.match(await kubectl.ok(line, ...rest), expected, line)
    const object = await kubectl.json('get deploy web')
    assert.equal(object.kind, 'Deployment')
    assert.equal(object.metadata.name, 'web')
    const list = await kubectl.json('get pods')
    assert.deepEqual([list.kind, list.items.length], ['List', 2])
  })

  test('get across namespaces and of several kinds', async () => {
    const { kubectl, inNewNamespace } = fixture()
    const namespaced = await createObjects(await inNewNamespace())
    assert.match(await kubectl.ok('get pods --all-namespaces'), new RegExp(`^${namespaced.access.namespace} +one `, 'm'))
    assert.match(await namespaced.ok('get pod/one svc/web'), /pod\/one [\s\S]*service\/web /)
    await namespaced.fails('get pod nobody', /^Error from server \(NotFound\): pods "nobody" not found/)
    await namespaced.fails('get gizmos', /the server doesn't have a resource type "gizmos"/)
    assert.equal(await namespaced.ok('get pod nobody --ignore-not-found'), '')
  })

  test('get --watch', async () => {
    const kubectl = await createObjects(await fixture().inNewNamespace())
    const table = kubectl.follow('get pods --watch')
    const events = kubectl.follow('get pods --watch-only --output-watch-events')
    const named = kubectl.follow('get pods two --watch -o', 'jsonpath={.metadata.name}={.metadata.labels.tier};')
    try {
      await table.until(/^two /m)
      await named.until(/two=b;/)
      // --watch-only does not print when it has started, so the pod is changed until an event shows.
      await kubectl.ok('label pod two tier=first --overwrite')
      for (let round = 0; !/MODIFIED/.test(events.stdout) && round < 20; round++) {
        await kubectl.ok(`label pod two tier=round-${round} --overwrite`)
      }
      await kubectl.ok('label pod two tier=last --overwrite')
      await kubectl.ok('delete pod two --now')
      await named.until(/two=b;.*two=last;/)
      await events.until(/^MODIFIED +two .*\n(?:.*\n)*DELETED +two /m)
      await table.until(/^two .*\n(?:.*\n)*two /m)
    } finally {
      for (const following of [table, events, named]) following.close()
    }
  })

  test('raw paths, version and cluster-info', async () => {
    const { kubectl, server } = fixture()
    assert.equal(await kubectl.ok('get --raw /healthz'), 'ok')
    assert.match(await kubectl.ok('get --raw /readyz?verbose'), /\[\+\]ping ok[\s\S]*check passed/)
    assert.equal((JSON.parse(await kubectl.ok('get --raw /api/v1/namespaces/default')) as { kind: string }).kind, 'Namespace')
    const seen = await kubectl.ok('config view --minify')
    assert.ok(seen.includes(server.url))
    assert.match(seen, /token: REDACTED/)
    assert.equal((await kubectl.ok('config current-context')).trim(), 'admin@kubernetes')
    assert.match(await kubectl.ok('cluster-info'), /is running at/)
  })

  test('subresources', skipBefore(24), async () => {
    const kubectl = await createObjects(await fixture().inNewNamespace())
    assert.match(await kubectl.ok('get deployment web --subresource=status'), /^web +0\/2 /m)
    assert.match(await kubectl.ok('get deployment web --subresource=scale'), /^NAME +DESIRED +AVAILABLE +AGE\nweb +2 +0 +\d+s\n$/)
    await kubectl.ok('patch deployment web --subresource=status --type=merge -p', '{"status":{"replicas":2,"readyReplicas":1}}')
    assert.match(await kubectl.ok('get deployment web'), /^web +1\/2 /m)
  })

  test('every kind as a table', async () => {
    const { kubectl } = fixture()
    const names = (await kubectl.ok('api-resources --verbs=list -o name')).trim().split('\n')
    assert.ok(names.length > 40, names.join())
    // One command per kind would be slow, and one command for all would stop at the first error.
    const results = await Promise.all(['a-f', 'g-n', 'o-z'].map((range) => kubectl.run('get -A', [pick(names, range)])))
    for (const { code, stderr } of results) assert.equal(code, 0, stderr)
  })

  test('describe', async () => {
    const kubectl = await createObjects(await fixture().inNewNamespace())
    await kubectl.send('create -f -', nodeOf(`described-${kubectl.access.namespace}`))
    assert.match(await kubectl.ok('describe deployment web'), /^Replicas: +2 desired/m)
    assert.match(await kubectl.ok('describe pod one'), /^Status: +Pending$/m)
    assert.match(await kubectl.ok('describe service web'), /^TargetPort: +http\/TCP$/m)
    assert.match(await kubectl.ok(`describe node described-${kubectl.access.namespace}`), /^Unschedulable: +false$/m)
    assert.match(await kubectl.ok(`describe namespace ${kubectl.access.namespace}`), /^Status: +Active$/m)
  })

  test('events', skipBefore(23), async () => {
    const { inNewNamespace, server } = fixture()
    const kubectl = await inNewNamespace()
    const namespace = kubectl.access.namespace ?? ''
    await server.client.post(`/api/v1/namespaces/${namespace}/events`, eventOf(namespace))
    assert.match(await kubectl.ok('events'), /Normal +Tried +Pod\/one +it was tried/)
  })

  test('get events', async () => {
    const { inNewNamespace, server } = fixture()
    const kubectl = await inNewNamespace()
    const namespace = kubectl.access.namespace ?? ''
    await kubectl.send('create -f -', podOf('one'))
    const { metadata } = await kubectl.json('get pod one')
    await server.client.post(`/api/v1/namespaces/${namespace}/events`, eventOf(namespace, metadata.uid))
    assert.match(await kubectl.ok('get events'), /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\S+ +Normal +Tried +pod\/one +it was tried\n$/)
    assert.match(await kubectl.ok('get events.events.k8s.io -o name'), /^event\.events\.k8s\.io\/one\.1\n$/)
    assert.match(await kubectl.ok('describe pod one'), /Normal +Tried .*it was tried/)
  })
})

const eventOf = (namespace: string, uid = '') => ({
  metadata: { name: 'one.1' },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: 'one', uid },
  reason: 'Tried',
  message: 'it was tried',
  type: 'Normal',
  source: { component: 'test' },
  firstTimestamp: '2024-01-01T00:00:00Z',
  lastTimestamp: '2024-01-01T00:00:00Z',
  count: 1,
})

/** Creates a Deployment, a Service and two pods. */
async function createObjects(kubectl: Kubectl): Promise<Kubectl> {
  await kubectl.send(
    'create -f -',
    deploymentOf('web'),
    serviceOf('web'),
    podOf('one', { labels: { tier: 'a' } }, { nodeName: 'n1' }),
    podOf('two', { labels: { tier: 'b' } }),
  )
  return kubectl
}

/** Names whose first letter is in a range such as `a-f`, joined by commas. */
const pick = (names: readonly string[], range: string): string => names.filter((name) => new RegExp(`^[${range}]`).test(name)).join()
