// describe of pods, workloads, services, nodes, claims, namespaces, config maps, secrets, events and other kinds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLines } from './assert-lines.js'
import { useServer } from './harness.js'

const start = useServer()

const labels = { app: 'shop' }
const template = {
  metadata: { labels },
  spec: {
    containers: [
      {
        name: 'web',
        image: 'nginx:1',
        ports: [{ containerPort: 80 }],
        env: [
          { name: 'COLOR', value: 'red' },
          { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'main' } } },
        ],
        resources: { limits: { cpu: '1' }, requests: { cpu: '100m' } },
        livenessProbe: { httpGet: { path: '/healthz', port: 80 } },
        volumeMounts: [{ name: 'files', mountPath: '/files' }],
      },
    ],
    volumes: [{ name: 'files', persistentVolumeClaim: { claimName: 'files' } }],
  },
}

test('describe of pods and workloads', async () => {
  const { ok, server } = start()
  const { core, apps, batch } = server.client
  const { namespace } = { namespace: 'default' }
  const created = await apps.v1
    .deployments(namespace)
    .create({ metadata: { name: 'web', labels }, spec: { replicas: 2, selector: { matchLabels: labels }, template } })
  const ownerOf = (kind: string, { metadata }: { readonly metadata?: { readonly name?: string; readonly uid?: string } }) => ({
    apiVersion: 'apps/v1',
    kind,
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    controller: true,
  })
  const hashed = { ...labels, 'pod-template-hash': 'abc' }
  const set = await apps.v1.replicaSets(namespace).create({
    metadata: { name: 'web-abc', labels: hashed, ownerReferences: [ownerOf('Deployment', created)] },
    spec: { replicas: 2, selector: { matchLabels: hashed }, template: { ...(created.spec?.template ?? {}), metadata: { labels: hashed } } },
  })
  await core.v1
    .pods(namespace)
    .create({ metadata: { name: 'web-abc-1', labels: hashed, ownerReferences: [ownerOf('ReplicaSet', set)] }, spec: template.spec })
  await core.v1.pods(namespace).status.patch('web-abc-1', {
    status: {
      phase: 'Running',
      podIP: '10.0.0.7',
      podIPs: [{ ip: '10.0.0.7' }],
      conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'not yet' }],
      containerStatuses: [
        { name: 'web', image: 'nginx:1', imageID: '', ready: false, restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } } },
      ],
    },
  })
  assertLines(
    await ok('describe', 'pod', 'web-abc-1'),
    /^Name: +web-abc-1$/,
    /^Namespace: +default$/,
    /^Service Account: +default$/,
    /^Node: +<none>$/,
    /^Labels: +app=shop$/,
    /^ +pod-template-hash=abc$/,
    /^Annotations: +<none>$/,
    /^Status: +Running$/,
    /^IP: +10\.0\.0\.7$/,
    /^Controlled By: +ReplicaSet\/web-abc$/,
    /^Containers:$/,
    /^ {2}web:$/,
    /^ {4}Image: +nginx:1$/,
    /^ {4}Port: +80\/TCP$/,
    /^ {4}Host Port: +0\/TCP$/,
    /^ {4}State: +Waiting$/,
    /^ {6}Reason: +CrashLoopBackOff$/,
    /^ {4}Ready: +False$/,
    /^ {4}Restart Count: +3$/,
    /^ {4}Limits:$/,
    /^ {6}cpu: +1$/,
    /^ {4}Requests:$/,
    /^ {6}cpu: +100m$/,
    /^ {4}Liveness: +http-get http:\/\/:80\/healthz delay=0s timeout=1s period=10s #success=1 #failure=3$/,
    /^ {4}Environment:$/,
    /^ {6}COLOR: +red$/,
    /^ {6}KEY: +<set to the key 'main' in secret 'keys'>/,
    /^ {4}Mounts:$/,
    /^ {6}\/files from files \(rw\)$/,
    /^Conditions:$/,
    /^ {2}Type +Status$/,
    /^ {2}Ready +False$/,
    /^Volumes:$/,
    /^ {2}files:$/,
    /^ {4}Type: +PersistentVolumeClaim \(a reference to a PersistentVolumeClaim in the same namespace\)$/,
    /^ {4}ClaimName: +files$/,
    /^QoS Class: +Burstable$/,
    /^Tolerations: /,
    /^Events: +<none>$/,
  )
  assertLines(
    await ok('describe', 'deployment/web'),
    /^CreationTimestamp: +\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}$/,
    /^Selector: +app=shop$/,
    /^Replicas: +2 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable$/,
    /^StrategyType: +RollingUpdate$/,
    /^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/,
    /^Pod Template:$/,
    /^ {2}Labels: +app=shop$/,
    /^ {2}Containers:$/,
    /^OldReplicaSets: +<none>$/,
    /^NewReplicaSet: +web-abc \(0\/2 replicas created\)$/,
  )
  assertLines(
    await ok('describe', 'rs', 'web-abc'),
    /^Selector: +app=shop,pod-template-hash=abc$/,
    /^Controlled By: +Deployment\/web$/,
    /^Replicas: +0 current \/ 2 desired$/,
    /^Pods Status: +1 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed$/,
  )
  await batch.v1
    .jobs(namespace)
    .create({ metadata: { name: 'count' }, spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } })
  assertLines(
    await ok('describe', 'job', 'count'),
    /^Parallelism: +1$/,
    /^Completions: +1$/,
    /^Pods Statuses: +0 Active \/ 0 Succeeded \/ 0 Failed$/,
  )
})

test('describe of services, nodes, claims, and namespaces with quotas and limits', async () => {
  const { ok, server } = start()
  const { v1 } = server.client.core
  await v1.services('default').create({
    metadata: { name: 'shop' },
    spec: { selector: labels, clusterIP: '10.0.0.99', ports: [{ name: 'plain', port: 80, targetPort: 8080 }] },
  })
  const addresses = [1, 2, 3, 4].map((i) => ({ ip: `10.1.0.${i}` }))
  await v1.endpoints('default').create({ metadata: { name: 'shop' }, subsets: [{ addresses, ports: [{ name: 'plain', port: 8080 }] }] })
  assertLines(
    await ok('describe', 'svc', 'shop'),
    /^Selector: +app=shop$/,
    /^Type: +ClusterIP$/,
    /^IP: +10\.0\.0\.99$/,
    /^Port: +plain {2}80\/TCP$/,
    /^TargetPort: +8080\/TCP$/,
    /^Endpoints: +10\.1\.0\.1:8080,10\.1\.0\.2:8080,10\.1\.0\.3:8080 \+ 1 more\.\.\.$/,
    /^Session Affinity: +None$/,
  )
  await v1.nodes().create({ metadata: { name: 'one' }, spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] } })
  await v1.nodes().status.patch('one', { status: { capacity: { cpu: '4' }, addresses: [{ type: 'InternalIP', address: '10.9.0.1' }] } })
  await v1.pods('default').create({
    metadata: { name: 'there' },
    spec: {
      nodeName: 'one',
      containers: [0.5, 0.5].map((cpu, i) => ({
        name: `c${i}`,
        image: 'b',
        resources: { requests: { cpu: String(cpu), memory: '512Mi' } },
      })),
    },
  })
  assertLines(
    await ok('describe', 'node', 'one'),
    /^Name: +one$/,
    /^Taints: +gpu=yes:NoSchedule$/,
    /^Unschedulable: +false$/,
    /^Addresses:$/,
    /^ {2}InternalIP: +10\.9\.0\.1$/,
    /^Capacity:$/,
    /^ {2}cpu: +4$/,
    /^Non-terminated Pods: +\(1 in total\)$/,
    /^ {2}default +there +1 \(25%\) +0 \(0%\) +1Gi \(0%\) +0 \(0%\) +\S+$/,
    /^ {2}cpu +1 \(25%\) +0 \(0%\)$/,
  )
  await v1
    .persistentVolumeClaims('default')
    .create({ metadata: { name: 'files' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } })
  assertLines(
    await ok('describe', 'pvc', 'files'),
    /^Status: +Pending$/,
    /^Finalizers: +\[\S+\/pvc-protection\]$/,
    /^Access Modes:$/,
    /^Used By: /,
  )
  await v1.namespaces().create({ metadata: { name: 'limited' } })
  await v1.resourceQuotas('limited').create({ metadata: { name: 'few' }, spec: { hard: { pods: '3' } } })
  await v1.limitRanges('limited').create({ metadata: { name: 'small' }, spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } })
  assertLines(
    await ok('describe', 'ns', 'limited'),
    /^Status: +Active$/,
    /^Resource Quotas$/,
    /^ {2}Name: +few$/,
    /^ {2}pods +0 +3$/,
    /^Resource Limits$/,
    /^ Container +cpu +- +2 +2 +2 +-$/,
  )
})

test('describe of config maps with values, secrets without values, and events', async () => {
  const { ok, server } = start()
  const { v1 } = server.client.core
  const map = await v1
    .configMaps('default')
    .create({ metadata: { name: 'text' }, data: { one: 'line', two: 'a\nb\n\x1b[31m' }, binaryData: { three: 'AAAA' } })
  assert.equal(
    await ok('describe', 'cm', 'text'),
    [
      'Name:         text\nNamespace:    default\nLabels:       <none>\nAnnotations:  <none>\n\nData\n====\none:\n----\nline\ntwo:\n----\na\nb\n^[[31m',
      '\n\nBinaryData\n====\nthree: 3 bytes\n\nEvents:  <none>\n',
    ].join(''),
  )
  await v1.secrets('default').create({ metadata: { name: 'keys' }, type: 'Opaque', stringData: { main: 'opensesame' } })
  const secret = await ok('describe', 'secret', 'keys')
  assertLines(secret, /^Type: +Opaque$/, /^Data$/, /^====$/, /^main: +10 bytes$/)
  assert.doesNotMatch(secret, /opensesame|b3BlbnNlc2FtZQ/)
  const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
  await v1.events('default').create({
    metadata: { name: 'text.1' },
    involvedObject: { kind: 'ConfigMap', name: 'text', namespace: 'default', uid: map.metadata?.uid ?? '' },
    type: 'Warning',
    reason: 'TooLong',
    message: 'nobody reads it',
    count: 4,
    firstTimestamp: now,
    lastTimestamp: now,
    source: { component: 'tester' },
  })
  assertLines(
    await ok('describe', 'cm', 'text'),
    /^Events:$/,
    /^ {2}Type +Reason +Age +From +Message$/,
    /^ {2}---- +------ +---- +---- +-------$/,
    /^ {2}Warning +TooLong +.* +tester +nobody reads it$/,
  )
  assert.doesNotMatch(await ok('describe', 'cm', 'text', '--show-events=false'), /nobody/)
  assertLines(
    await ok('describe', 'event', 'text.1'),
    /^Count: +4$/,
    /^Event Time: +<nil>$/,
    /^Involved Object:$/,
    /^ {2}Kind: +ConfigMap$/,
    /^Reason: +TooLong$/,
    /^Source:$/,
    /^ {2}Component: +tester$/,
  )
})

test('kinds without a description of their own list all fields; missing or forbidden objects do not stop describe', async () => {
  const { ok, run } = start()
  assertLines(
    await ok('describe', 'flowschema', 'exempt'),
    /^Name: +exempt$/,
    /^API Version: +flowcontrol\./,
    /^Kind: +FlowSchema$/,
    /^ {2}UID: +\S+$/,
    /^Spec:$/,
  )
  const { code, stdout, stderr } = await run(['describe', 'ns', 'none', 'default'])
  assert.equal(code, 1)
  assert.match(stderr, /namespaces "none" not found/)
  assert.match(stdout, /^Name: +default$/m)
  assert.equal((await run(['describe', 'crd'])).stderr, 'No resources found in default namespace.\n')
  // Endpoints that the user is not authorized to list are shown as <unknown>.
  await ok('create', 'clusterrole', 'see-services', '--verb=get,list', '--resource=services,events')
  await ok('create', 'clusterrolebinding', 'see-services', '--clusterrole=see-services', '--user=bob')
  assertLines((await run(['describe', 'svc', 'shop', '--as', 'bob'])).stdout, /^Endpoints: +<unknown>$/)
})
