// describe of RBAC, quotas, networking, volumes, autoscalers and certificate signing requests.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLines } from './assert-lines.js'
import { signingRequest } from './certificate-signing-request.js'
import { useServer } from './harness.js'

const start = useServer()

test('describe prints the sections of each kind', async () => {
  const { run, runHere } = start()
  const objects = [
    {
      apiVersion: 'rbac.authorization.cluster.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'described' },
      rules: [
        { apiGroups: ['', 'apps'], resources: ['pods/log'], verbs: ['get', 'list'] },
        { nonResourceURLs: ['/x'], verbs: ['get'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.cluster.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'bound' },
      roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'described' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    },
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard: { pods: '30' }, scopes: ['NotTerminating'] } },
    {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'small' },
      spec: { limits: [{ type: 'Container', max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '4' } }] },
    },
    {
      apiVersion: 'networking.cluster.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'closed' },
      spec: {
        podSelector: {},
        ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }], ports: [{ port: 80, endPort: 90 }] }],
      },
    },
    {
      apiVersion: 'networking.cluster.io/v1',
      kind: 'Ingress',
      metadata: { name: 'door' },
      spec: {
        tls: [{ hosts: ['a.io'], secretName: 's' }],
        rules: [
          {
            host: 'a.io',
            http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'none', port: { number: 80 } } } }] },
          },
        ],
      },
    },
    {
      apiVersion: 'storage.cluster.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'fast' },
      provisioner: 'example.com/disk',
      parameters: { type: 'ssd' },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/disk' } },
    },
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'more' },
      spec: {
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'kept' },
      spec: { minAvailable: '50%', selector: { matchLabels: { app: 'x' } } },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'nightly' },
      spec: {
        schedule: '@daily',
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'some' },
      subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }],
    },
    {
      apiVersion: 'discovery.cluster.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'slice' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], zone: 'z' }],
    },
    { apiVersion: 'scheduling.cluster.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 100, description: 'first' },
    {
      apiVersion: 'certificates.cluster.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'asked' },
      spec: { request: Buffer.from(signingRequest).toString('base64'), signerName: 'example.com/x', usages: ['client auth'] },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' }, imagePullSecrets: [{ name: 'images' }] },
  ]
  const created = await run(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  assert.equal(created.code, 0, created.stderr)
  const cases: readonly (readonly [string, ...RegExp[]])[] = [
    [
      'clusterrole/described',
      /^PolicyRule:$/,
      /^ {2}pods\/log +\[\] +\[\] +\[get list\]$/,
      /^ {2}pods\.apps\/log /,
      /^ +\[\/x\] +\[\] +\[get\]$/,
    ],
    ['rolebinding/bound', /^ {2}Kind: +ClusterRole$/, /^ {2}ServiceAccount +default +default$/],
    ['quota/few', /^Scopes: +NotTerminating$/, /^Resource +Used +Hard$/, /^pods +\d+ +30$/],
    ['limits/small', /^Type +Resource +Min/, /^Container +cpu +- +2 +2 +2 +4$/],
    [
      'netpol/closed',
      /^ {2}PodSelector: +<none> \(Allowing/,
      /^ {4}To Port: +80-90\/TCP$/,
      /^ {8}CIDR: +10\.0\.0\.0\/8$/,
      /^ {2}Not affecting egress traffic$/,
    ],
    ['ingress/door', /^TLS:$/, /^ {2}s terminates a\.io$/, /^ {2}a\.io *$/, /^ +\/ +none:80 \(<error: endpoints "none" not found>\)$/],
    ['sc/fast', /^IsDefaultClass: +No$/, /^Parameters: +type=ssd$/, /^ReclaimPolicy: +Delete$/],
    ['pv/disk', /^Reclaim Policy: +Retain$/, /^ {4}Type: +HostPath \(bare host directory volume\)$/, /^ {4}Path: +\/disk$/],
    [
      'hpa/more',
      /^Reference: +Deployment\/web$/,
      /^ {2}resource cpu on pods {2}\(as a percentage of request\): +<unknown> \/ 80%$/,
      /^Deployment pods: +0 current \/ 0 desired$/,
    ],
    ['pdb/kept', /^Min available: +50%$/, /^ {4}Allowed disruptions: +0$/],
    ['cj/nightly', /^Schedule: +@daily$/, /^Concurrency Policy: +Allow$/, /^ {4}Image: +b$/, /^Active Jobs: +<none>$/],
    ['ep/some', /^ {2}Addresses: +10\.0\.0\.1$/, /^ {4}<unset> +80 +TCP$/],
    ['endpointslice/slice', /^AddressType: +IPv4$/, /^ {2}- Addresses: +10\.0\.0\.1$/, /^ {4}Zone: +z$/],
    ['pc/high', /^Value: +100$/, /^Description: +first$/],
    ['csr/asked', /^Signer: +example\.com\/x$/, /^Status: +Pending$/, /^ {2}Common Name: +test$/],
    ['sa/robot', /^Image pull secrets: +images \(not found\)$/, /^Tokens: +<none>$/],
  ]
  for (const [args, ...lines] of cases) {
    const { code, stdout, stderr } = await runHere(['describe', args])
    assert.equal(code, 0, `${args}: ${stderr}`)
    assertLines(stdout, ...lines)
  }
})
