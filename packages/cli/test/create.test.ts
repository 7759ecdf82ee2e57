// Objects of `create` by command line; expected objects were created by kubectl v1.27, without empty fields.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readYaml } from '../../api/src/codec/yaml/read-yaml.js'
import { useServer } from './harness.js'

const start = useServer()

/** Command line and created object in YAML. */
const created: readonly (readonly [string, string])[] = [
  [
    'quota q --hard=pods=2 --scopes=BestEffort',
    '{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: "2"}, scopes: [BestEffort]}}',
  ],
  [
    'job j --image=busybox -- date -u',
    '{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {containers: [{name: j, image: busybox, command: [date, -u]}], restartPolicy: Never}}}}',
  ],
  [
    'cj c --image=busybox --schedule=@daily',
    '{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {schedule: "@daily", jobTemplate: {metadata: {name: c}, spec: {template: {spec: {containers: [{name: c, image: busybox}], restartPolicy: OnFailure}}}}}}',
  ],
  [
    'pdb p --selector=app=x,tier=y --min-available=50%',
    '{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {minAvailable: 50%, selector: {matchLabels: {app: x, tier: "y"}}}}',
  ],
  [
    'pc high --value=1000 --preemption-policy=Never',
    '{apiVersion: scheduling.cluster.io/v1, kind: PriorityClass, metadata: {name: high}, preemptionPolicy: Never, value: 1000}',
  ],
  [
    'ingress i --class=c --default-backend=d:http --annotation=a=b --rule=x.io/a*=s:80 --rule=x.io/b=t:web,tls --rule=/=u:80,tls=k',
    `{apiVersion: networking.cluster.io/v1, kind: Ingress, metadata: {name: i, annotations: {a: b}}, spec: {
      ingressClassName: c, defaultBackend: {service: {name: d, port: {name: http}}}, tls: [{hosts: [x.io]}, {secretName: k}], rules: [
        {host: x.io, http: {paths: [{path: /a, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}, {path: /b, pathType: Exact, backend: {service: {name: t, port: {name: web}}}}]}},
        {http: {paths: [{path: /, pathType: Exact, backend: {service: {name: u, port: {number: 80}}}}]}}]}}`,
  ],
  ['secret generic s --from-literal=a=b --append-hash', '{apiVersion: v1, kind: Secret, metadata: {name: s-7fd2tm89d8}, data: {a: Yg==}}'],
  ['cm s --from-literal=a=b --append-hash', '{apiVersion: v1, kind: ConfigMap, metadata: {name: s-fkft8b67b2}, data: {a: b}}'],
  [
    'secret docker-registry s --docker-username=u --docker-password=p --docker-email=e',
    '{apiVersion: v1, kind: Secret, metadata: {name: s}, type: cluster.io/dockerconfigjson, data: {.dockerconfigjson: eyJhdXRocyI6eyJodHRwczovL2luZGV4LmRvY2tlci5pby92MS8iOnsidXNlcm5hbWUiOiJ1IiwicGFzc3dvcmQiOiJwIiwiZW1haWwiOiJlIiwiYXV0aCI6ImRUcHcifX19}}',
  ],
  [
    'service clusterip s --tcp=80:http --tcp=443',
    '{apiVersion: v1, kind: Service, metadata: {name: s, labels: {app: s}}, spec: {type: ClusterIP, selector: {app: s}, ports: [{name: 80-http, port: 80, protocol: TCP, targetPort: http}, {name: "443", port: 443, protocol: TCP, targetPort: 443}]}}',
  ],
  [
    'svc clusterip s --clusterip=None',
    '{apiVersion: v1, kind: Service, metadata: {name: s, labels: {app: s}}, spec: {type: ClusterIP, clusterIP: None, selector: {app: s}}}',
  ],
  [
    'svc nodeport s --tcp=80 --node-port=30080',
    '{apiVersion: v1, kind: Service, metadata: {name: s, labels: {app: s}}, spec: {type: NodePort, selector: {app: s}, ports: [{name: "80", port: 80, protocol: TCP, targetPort: 80, nodePort: 30080}]}}',
  ],
  [
    'svc externalname s --external-name=x.io',
    '{apiVersion: v1, kind: Service, metadata: {name: s, labels: {app: s}}, spec: {type: ExternalName, externalName: x.io, selector: {app: s}}}',
  ],
  [
    'role r --verb=get,get --resource=pods,pods,deployments.apps',
    '{apiVersion: rbac.authorization.cluster.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [apps], resources: [deployments], verbs: [get]}]}',
  ],
  [
    'clusterrole r --aggregation-rule=a=b',
    '{apiVersion: rbac.authorization.cluster.io/v1, kind: ClusterRole, metadata: {name: r}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}, rules: []}',
  ],
  [
    'deployment d --image=a/x:1 --image=b/x:2 --port=80',
    '{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {app: d}}, spec: {replicas: 1, selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: x, image: "a/x:1", ports: [{containerPort: 80}]}, {name: x-2, image: "b/x:2"}]}}}}',
  ],
]

test('create builds the objects of kubectl, and the server accepts them', async () => {
  const { run } = start()
  for (const [line, expected] of created) {
    const args = ['create', ...line.split(' ')]
    const separator = args.indexOf('--')
    const dryRun = (mode: string) => run(args.toSpliced(separator < 0 ? args.length : separator, 0, `--dry-run=${mode}`, '-o', 'json'))
    const { stdout, stderr } = await dryRun('client')
    assert.deepEqual(JSON.parse(stdout || '{}'), readYaml(expected).value, `${line}: ${stderr}`)
    const accepted = await dryRun('server')
    assert.equal(accepted.code, 0, `${line}: ${accepted.stderr}`)
  }
})

test('create rejects incomplete and contradictory flags', async () => {
  const { runHere, folder } = start()
  const file = join(folder, 'no-certificate')
  writeFileSync(file, 'nothing')
  const cases: readonly (readonly [string, RegExp])[] = [
    ['quota', /exactly one NAME is required, got 0/],
    ['quota q --hard=pods', /--hard takes NAME=VALUE, not "pods"/],
    ['job j', /either --image or --from must be specified/],
    ['cronjob c --image=x', /required flag\(s\) "schedule" not set/],
    ['pdb p --selector=a=b', /one of min-available or max-unavailable must be specified/],
    ['pdb p --min-available=1', /a selector must be specified/],
    ['ingress i', /every ingress has to either specify a default-backend/],
    ['ingress i --rule=x/y=z', /should be in format host\/path=svcname:svcport/],
    ['secret docker-registry s --docker-username=u', /either --from-file or the combination/],
    [`secret tls s --cert=${file} --key=${file}`, /cannot read the certificate or key/],
    ['secret tls s --from-literal=a=b', /unknown flag: --from-literal/],
    ['service clusterip s', /at least one tcp port specifier must be provided/],
    ['service clusterip s --tcp=x', /--tcp takes PORT or PORT:TARGET/],
    ['clusterrolebinding b --user=a', /required flag\(s\) "clusterrole" not set/],
    ['clusterrole r --aggregation-rule=a=b --verb=get', /must be specified without/],
    ['role r --verb=get --non-resource-url=/x', /unknown flag: --non-resource-url/],
    ['token default --bound-object-kind=Pod', /--bound-object-name is required/],
    ['token default --bound-object-kind=Node --bound-object-name=x', /supported --bound-object-kind values are Pod, Secret/],
  ]
  for (const [line, errorPattern] of cases) {
    const { code, stderr } = await runHere(['create', ...line.split(' ')])
    assert.equal(code, 1, line)
    assert.match(stderr, errorPattern, line)
  }
})

test('create job --from=cronjob/NAME', async () => {
  const { ok } = start()
  await ok('create', 'cronjob', 'nightly', '--image=busybox', '--schedule=@daily')
  assert.equal(await ok('create', 'job', 'now', '--from=cronjob/nightly'), 'job.batch/now created\n')
  assert.equal(
    await ok(
      'get',
      'job',
      'now',
      '-o',
      'jsonpath={.metadata.ownerReferences[0].kind} {.metadata.annotations.cronjob\\.cluster\\.io/instantiate} {.spec.template.spec.containers[0].image}',
    ),
    'CronJob manual busybox',
  )
})
