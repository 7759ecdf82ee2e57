// Every command with the flag --dry-run.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeWithOpenssl } from '../../../test/kit/openssl-request.js'
import { commands } from '../src/command-line/command-table.js'
import { signingRequest } from './certificate-signing-request.js'
import { useServer } from './harness.js'

const start = useServer()
const namespace = 'default'
const group = 'rbac.authorization.cluster.io'

/** Every command with --dry-run, in an order in which each changes something. Upper-case words are files. */
const lines: readonly string[] = [
  'create -f FILE',
  'create namespace made',
  'create configmap made --from-literal=a=b',
  'create secret generic made --from-literal=a=b',
  'create secret docker-registry made-images --docker-username=a --docker-password=b',
  'create secret tls made-pair --cert CERT --key KEY',
  'create service clusterip made --tcp=80',
  'create service nodeport made-on-nodes --tcp=80',
  'create service loadbalancer made-balanced --tcp=80',
  'create service externalname made-elsewhere --external-name=example.com',
  'create ingress made --rule=/=made:80',
  'create job made --image=x',
  'create cronjob made --image=x --schedule=@daily',
  'create quota made --hard=pods=100',
  'create poddisruptionbudget made --selector=a=b --min-available=1',
  'create priorityclass made --value=1',
  'create serviceaccount made',
  'create deployment made --image=x',
  'create role made --verb=get --resource=pods',
  'create clusterrole made --verb=get --resource=pods',
  'create rolebinding made --role=made --user=u',
  'create clusterrolebinding made --clusterrole=made --user=u',
  'apply -f CHANGED',
  'replace -f FILE',
  'patch cm filed --type=merge -p {"data":{"x":"9"}}',
  'label cm filed a=b',
  'annotate cm filed a=b',
  'scale deployment web --replicas=7',
  'set image deployment web web=web:3',
  'set env deployment web A=b',
  'run made-pod --image=x',
  'expose deployment web --port=80',
  'cordon node',
  'uncordon node',
  'drain node',
  'taint node node a=b:NoSchedule',
  'rollout undo deployment/web',
  'rollout restart deployment/web',
  'rollout pause deployment/web',
  'rollout resume deployment/web',
  'auth reconcile -f ROLES',
  'certificate approve good',
  'certificate deny bad',
  'delete cm filed',
]

test('with --dry-run commands store nothing, without it they do', async () => {
  const { server, folder, runHere } = start()
  const { apps, batch, core, certificates, networking, policy, rbacAuthorization, scheduling } = server.client
  const template = (image: string) => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } })
  const web = await apps.v1
    .deployments(namespace)
    .create({ metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template: template('web:2') } })
  for (const revision of ['1', '2'])
    await apps.v1.replicaSets(namespace).create({
      metadata: {
        name: `web-${revision}`,
        labels: { app: 'web' },
        annotations: { 'deployment.cluster.io/revision': revision },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: web.metadata?.uid ?? '', controller: true }],
      },
      spec: { selector: { matchLabels: { app: 'web' } }, template: template(`web:${revision}`) },
    })
  await core.v1.nodes().create({ metadata: { name: 'node' } })
  for (const name of ['good', 'bad'])
    await certificates.v1.certificateSigningRequests().create({
      metadata: { name },
      spec: { request: Buffer.from(signingRequest).toString('base64'), signerName: 'example.com/tests', usages: ['client auth'] },
    })
  const write = (name: string, object: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(object))
    return join(folder, name)
  }
  const [keyFile, certificateFile] = [join(folder, 'pair.key'), join(folder, 'pair.crt')]
  makeWithOpenssl({ keyFile, outFile: certificateFile, subject: '/CN=test', selfSignedDays: 1 })
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'filed' } }
  const files: { readonly [word: string]: string } = {
    FILE: write('map.json', { ...map, data: { x: '1' } }),
    CERT: certificateFile,
    KEY: keyFile,
    CHANGED: write('changed.json', { ...map, data: { x: '1', y: '2' } }),
    ROLES: write('roles.json', { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name: 'filed' }, rules: [] }),
  }
  const collections = [
    core.v1.namespaces(),
    core.v1.configMaps(namespace),
    core.v1.secrets(namespace),
    core.v1.serviceAccounts(namespace),
    apps.v1.deployments(namespace),
    batch.v1.cronJobs(namespace),
    core.v1.services(namespace),
    core.v1.pods(namespace),
    core.v1.nodes(),
    networking.v1.ingresses(namespace),
    scheduling.v1.priorityClasses(),
    certificates.v1.certificateSigningRequests(),
    rbacAuthorization.v1.roles(namespace),
    rbacAuthorization.v1.clusterRoles(),
    rbacAuthorization.v1.roleBindings(namespace),
    rbacAuthorization.v1.clusterRoleBindings(),
  ]
  // Controllers update the status of these.
  const statusCollections = [core.v1.resourceQuotas(namespace), policy.v1.podDisruptionBudgets(namespace), batch.v1.jobs(namespace)]
  const storedObjects = async (): Promise<string> => {
    const lists = await Promise.all([...collections, ...statusCollections].map((collection) => collection.metadata.list()))
    const versionOf = (i: number, version = ''): string => (i < collections.length ? version : '')
    return lists
      .flatMap(({ items }, i) => items.map(({ metadata }) => `${i} ${metadata?.name} ${versionOf(i, metadata?.resourceVersion)}`))
      .join('\n')
  }
  /** resourceVersion of the store: unchanged if nothing was stored. */
  const version = async (): Promise<string | undefined> =>
    (await core.v1.namespaces().metadata.list({ limit: 1 })).metadata?.resourceVersion
  const testedCommands = new Set<string>()
  let before = await storedObjects()
  let versionBefore = ''
  for (const line of lines) {
    const args = line.split(' ').map((word) => files[word] ?? word)
    const run = async (...more: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await runHere([...args, ...more])
      assert.equal(code, 0, `${line} ${more.join(' ')}: ${stderr}`)
      return stdout
    }
    const versionNow = await version()
    if (versionNow !== versionBefore) before = await storedObjects()
    assert.match(await run('--dry-run=server'), / \(server dry run\)\n$/, line)
    assert.match(await run('--dry-run=client'), / \(dry run\)\n$/, line)
    if ((await version()) !== versionNow) assert.equal(await storedObjects(), before, line)
    assert.doesNotMatch(await run(), /dry run/)
    versionBefore = (await version()) ?? ''
    const after = await storedObjects()
    assert.notEqual(after, before, line)
    before = after
    testedCommands.add(Object.keys(commands).findLast((name) => line.startsWith(`${name} `)) ?? '')
  }
  for (const [name, entry] of Object.entries(commands))
    if ('dry-run' in (await entry.load()).flags) assert.ok(testedCommands.has(name), `the dry run of "${name}" is not tested here`)
})

test('--dry-run=client prints the changed object', async () => {
  const { server, runHere } = start()
  await server.client.core.v1.configMaps(namespace).create({ metadata: { name: 'shown', labels: { old: 'x', kept: 'y' } } })
  const { stdout } = await runHere(['label', 'cm', 'shown', 'new=z', 'old-', '--dry-run=client', '-o', 'jsonpath={.metadata.labels}'])
  assert.deepEqual(JSON.parse(stdout), { kept: 'y', new: 'z' })
})
