// clusterctl and kubectl print the same output with the same exit codes for the same objects.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, test } from 'node:test'
import { Kubectl } from '../../../test/clients/kubectl.js'
import { kubectlSuite } from '../../../test/clients/kubectl-suite.js'
import { newFolder } from '../../../test/kit/server-process.js'
import { ClusterctlProcesses } from './clusterctl-processes.js'

const shop = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: shop, tier: front}}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: web, image: "nginx:1"}, {name: log, image: "log:2"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: prices, labels: {app: shop}}
data: {apple: "3", pear: "12", text: "two\\nlines\\n"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: names, annotations: {example.com/x.y: z}}
data: {apple: Boskoop}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: shop}, ports: [{port: 80}, {port: 443, name: tls}]}
`.replace('{port: 80}', '{port: 80, name: plain}')

/** selfLink in lists of older kubectl versions. */
const selfLinks = /,?\n +"?selfLink"?: ""/g

/** Read commands, run by both clients. */
const readCommands: readonly (readonly string[])[] = [
  ['get', 'configmaps'],
  ['get', 'cm', 'prices'],
  ['get', 'cm/prices', 'cm/names'],
  ['get', 'cm,svc,deploy'],
  ['get', 'deploy', '-o', 'wide'],
  ['get', 'deploy', '-L', 'app', '-L', 'tier', '--show-labels'],
  ['get', 'cm', '-l', 'app=shop', '--no-headers'],
  ['get', 'cm', '-l', 'app notin (shop)', '-o', 'name'],
  ['get', 'cm', '--field-selector', 'metadata.name=names'],
  ['get', 'cm', '-A', '-l', 'app'],
  ['get', 'cm', '--sort-by', '.metadata.name'],
  ['get', 'cm', '--show-kind'],
  ['get', 'cm', 'prices', '-o', 'json', '--show-managed-fields'],
  ['get', 'cm', 'prices', '-o', 'yaml', '--show-managed-fields'],
  ['get', 'cm,svc', '-o', 'yaml', '--show-managed-fields'],
  ['get', 'deploy,cm', '-o', 'json', '--show-managed-fields'],
  ['get', 'deploy', 'web', '-o', 'name'],
  ['get', 'deploy,cm', '-o', 'name'],
  ['get', 'cm', 'prices', '-o', 'jsonpath={.data.apple} {.data}'],
  ['get', 'cm', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.data.apple}{"\\n"}{end}'],
  ['get', 'cm', '-o', "jsonpath={.items[?(@.metadata.name=='prices')].data.pear}"],
  ['get', 'cm', '-o', 'jsonpath={.items[0].metadata.name},{.items[-1:].metadata.name},{.items[*].data.apple}'],
  ['get', 'cm', 'names', '-o', "jsonpath={.metadata.annotations.example\\.com/x\\.y}{['kind']}{.nothing}"],
  ['get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].name} {..image}'],
  ['get', 'svc', 'web', '-o', 'jsonpath={.spec.ports[?(@.port>80)].name}'],
  ['get', 'cm', '-o', 'custom-columns=NAME:.metadata.name,APPLE:.data.apple,PEAR:.data.pear'],
  ['get', 'deploy', '-o', 'custom-columns=IMAGES:.spec.template.spec.containers[*].image,NONE:.nope', '--no-headers'],
  ['get', 'cm', 'names', '-o', 'custom-columns=DATA:.data,NOTES:.metadata.annotations,LABELS:.metadata.labels'],
  ['get', 'cm', '-o', 'go-template={{range $i, $e := .items}}{{$i}} {{$e.metadata.name}} {{len $e.data}} {{$e.data.pear}}{{"\\n"}}{{end}}'],
  [
    'get',
    'deploy',
    'web',
    '-o',
    'go-template={{printf "%d %-6s|" .spec.replicas .kind}}{{if eq .metadata.labels.app "shop"}}{{.metadata.labels}}{{end}}',
  ],
  ['get', 'cm', 'nothing'],
  ['get', 'cm', 'nothing', 'prices'],
  ['get', 'cm', 'nothing', '--ignore-not-found'],
  ['get', 'secrets'],
  ['get', 'secrets', '-o', 'name'],
  ['get', 'nodes'],
  ['get', 'cm', '-o', 'jsonpath={.items[9].metadata.name}'],
  ['get', '--raw', '/readyz?verbose'],
  ['get', '--raw', '/api/v1/namespaces/default'],
  ['get', '--raw', '/api/v1/namespaces/none'],
  ['api-versions'],
  ['auth', 'can-i', 'get', 'pods'],
  ['auth', 'can-i', 'get', 'pods', '--as', 'alice'],
  ['auth', 'can-i', 'get', '/healthz', '--as', 'alice'],
  ['auth', 'can-i', 'get', 'pods', '--as', 'alice', '--quiet'],
  ['config', 'get-contexts'],
  ['config', 'current-context'],
  ['config', 'view', '--minify'],
  ['rollout', 'history', 'deployment/web'],
]

/** Write commands, run by each client in its own namespace. */
const writeCommands: readonly (readonly string[])[] = [
  ['label', 'cm', 'prices', 'color=red'],
  ['label', 'cm', 'prices', 'app=other'],
  ['label', 'cm', 'prices', 'app=other', '--overwrite'],
  ['label', 'cm', 'names', '--list'],
  ['annotate', 'cm', 'prices', 'note=a'],
  ['annotate', 'cm', '--all', 'note=b', '--overwrite'],
  ['scale', 'deployment', 'web', '--replicas=3'],
  ['scale', 'deployment', 'web', '--replicas=4', '--current-replicas=2'],
  ['patch', 'cm', 'prices', '--type=merge', '-p', '{"data":{"apple":"4"}}'],
  ['patch', 'cm', 'prices', '--type=merge', '-p', '{"data":{"apple":"4"}}'],
  ['patch', 'deploy', 'web', '-p', '{"spec":{"template":{"spec":{"containers":[{"name":"log","image":"log:3"}]}}}}'],
  ['patch', 'cm', 'prices', '--type=json', '-p', '[{"op":"remove","path":"/data/pear"}]', '-o', 'jsonpath={.data}'],
  ['get', 'deploy', 'web', '-o', 'jsonpath={.spec.replicas} {.spec.template.spec.containers[*].image}'],
  ['run', 'one', '--image=x'],
  ['run', 'one', '--image=x'],
  ['run', 'two', '--image=x', '--port=80', '--env=A=B', '--env=C=D', '--labels=q=r,s=t', '--restart=Never', '--', 'sleep', '5'],
  ['get', 'pod', 'one', '-o', 'jsonpath={.metadata.labels} {.spec.restartPolicy} {.spec.containers[0].name}'],
  ['get', 'pod', 'two', '-o', 'jsonpath={.metadata.labels} {.spec.restartPolicy} {..args}{..command} {..env} {..ports}'],
  ['run', 'three', '--image=x', '--expose', '--port=80', '--command', '--', 'sleep', '5'],
  ['get', 'pod,svc', 'three', '-o', 'jsonpath={..command}{..selector}{..ports}'],
  ['run', 'four', '--image=x', '--expose'],
  ['run', 'four', '--image=x', '--restart=Sometimes'],
  ['run', 'four', '--image=x', '--env=bad'],
  ['run', 'four', '--image=x', '--dry-run=client'],
  ['run', 'four', '--image=x', '--dry-run=client', '-o', 'jsonpath={.spec.containers[0].image} {.metadata.labels}'],
  ['expose', 'pod', 'one'],
  ['expose', 'pod', 'two'],
  ['expose', 'deployment', 'web', '--name=front', '--port=80', '--target-port=http', '--type=NodePort', '--protocol=UDP', '--labels=x=y'],
  [
    'get',
    'svc',
    'front',
    '-o',
    'jsonpath={.spec.ports[0].port} {.spec.ports[0].targetPort} {.spec.ports[0].protocol} {.spec.type} {.metadata.labels}',
  ],
  ['expose', 'deployment', 'web', '--name=many', '--port=80,90', '--session-affinity=ClientIP', '--external-ip=1.2.3.4'],
  ['get', 'svc', 'many', '-o', 'jsonpath={.spec.ports} {.spec.selector} {.metadata.labels} {.spec.sessionAffinity} {.spec.externalIPs}'],
  ['expose', 'svc', 'web', '--name=again', '--selector=k=v'],
  ['get', 'svc', 'again', '-o', 'jsonpath={.spec.ports[*].port} {.spec.selector}'],
  ['expose', 'cm', 'prices', '--port=1'],
  ['expose', 'deployment', 'none', '--port=1'],
  ['expose', 'deployment', 'web', '--name=wrong', '--port=1', '--type=Wrong'],
  ['expose', 'deployment', 'web', '--name=tried', '--port=1', '--dry-run=server'],
  ['set', 'image', 'deployment/web', 'web=nginx:2'],
  ['set', 'image', 'deployment/web', 'web=nginx:2'],
  ['set', 'image', 'deploy', 'web', 'web=nginx:3', 'other=x'],
  ['set', 'image', 'deploy/web', '*=all:1'],
  ['get', 'deploy', 'web', '-o', 'jsonpath={..image}'],
  ['set', 'image', 'deploy/web', 'log=log:5', '--dry-run=client'],
  ['set', 'image', 'deploy/web', 'log=log:5', '--dry-run=client', '-o', 'jsonpath={..image}'],
  ['set', 'image', 'deploy', '--all', 'log=log:6'],
  ['set', 'image', 'deploy', '-l', 'app=shop', 'log=log:7'],
  ['set', 'image', 'pod/one', 'one=x:2'],
  ['set', 'image', 'cm/prices', 'a=b'],
  ['set', 'image', 'deploy/none', 'a=b'],
  ['set', 'image', 'deploy', 'web'],
  ['get', 'deploy,pod', '-o', 'jsonpath={..image}'],
  ['rollout', 'restart', 'deployment/web'],
  ['rollout', 'pause', 'deployment/web'],
  ['rollout', 'resume', 'deployment/web'],
  ['create', 'configmap', 'made', '--from-literal=a=b', '--dry-run=client', '-o', 'jsonpath={.data}'],
  ['create', 'serviceaccount', 'robot'],
  ['create', 'quota', 'many', '--hard=pods=9,services=9'],
  ['create', 'service', 'clusterip', 'made', '--tcp=80:8080'],
  ['create', 'job', 'once', '--image=busybox'],
  ['get', 'svc', 'made', '-o', 'jsonpath={.spec.ports} {.spec.selector} {.metadata.labels}'],
  ['create', 'role', 'readers', '--verb=get,list', '--resource=pods,deployments.apps'],
  ['create', 'rolebinding', 'readers', '--role=readers', '--user=alice', '--serviceaccount=default:robot'],
  ['get', 'rolebinding', 'readers', '-o', 'jsonpath={.subjects[*].name} {.roleRef}'],
  ['wait', 'cm/prices', '--for=delete', '--timeout=300ms'],
  ['delete', 'cm', 'prices', 'names'],
  ['delete', 'cm', 'prices'],
  ['delete', 'cm', 'prices', '--ignore-not-found'],
  ['delete', 'deploy', '--all', '--wait=false'],
  ['get', 'deploy,cm'],
]

/** Commands on nodes; NODE is a separate node for each client. */
const nodeCommands: readonly string[] = [
  'cordon NODE',
  'cordon NODE',
  'uncordon NODE --dry-run=server',
  'uncordon NODE',
  'uncordon node/NODE',
  'cordon NODE none',
  'cordon none',
  'cordon',
  'cordon NODE -l a=b',
  'cordon -l kind=NODE',
  'get node NODE -o jsonpath={.spec.unschedulable}',
  'taint node NODE k=v:NoSchedule',
  'taint node NODE k=v:NoSchedule',
  'taint node NODE k=w:NoSchedule --overwrite',
  'taint nodes NODE k2:NoExecute k3=x:PreferNoSchedule',
  'get node NODE -o jsonpath={.spec.taints}',
  'taint node NODE k-',
  'taint node NODE k-',
  'taint node NODE k2:NoExecute-',
  'taint node NODE k9=v:NoSchedule k3-',
  'taint node NODE k:Wrong',
  'taint node NODE',
  'taint node NODE a=v=w:NoExecute',
  'taint node NODE a:NoExecute a:NoExecute',
  'taint node NODE m=1:NoExecute m-',
  'taint node NODE =v:NoExecute',
  'taint pods NODE a:NoExecute',
  'taint node none a:NoExecute',
  'taint node -l kind=NODE z:NoExecute -o name',
  'get node NODE -o jsonpath={.spec.taints}',
]

kubectlSuite({ title: 'clusterctl compared with kubectl' }, (fixture) => {
  const home = newFolder()
  after(() => rmSync(home, { recursive: true, force: true }))
  const commands = new ClusterctlProcesses()
  const ours = ({ access }: Kubectl): Kubectl => new Kubectl({ ...access, home, perform: commands.perform })
  /** Replaces ages with the spaces after them, because a longer age moves the next column. */
  const withoutAges = (text: string): string => text.replaceAll(/\b\d+(?:ms|[smh])(?:\d+s)?\b */g, 'T ').replaceAll(selfLinks, '')

  for (const args of readCommands) {
    const [first = '', ...rest] = args
    test(args.join(' '), async () => {
      const kubectl = await prepared(fixture().kubectl)
      // kubectl before 1.21 always shows managedFields and has no flag for it.
      const theirs = rest.filter((word) => word !== '--show-managed-fields' || kubectl.access.minor >= 21)
      const [a, b] = await Promise.all([kubectl.run(first, theirs), ours(kubectl).run(first, rest)])
      assert.equal(withoutAges(b.stdout), withoutAges(a.stdout), b.stderr)
      assert.equal(b.code, a.code, `${b.stderr}\n${a.stderr}`)
    })
  }

  let ready: Promise<Kubectl> | undefined
  const prepared = (kubectl: Kubectl): Promise<Kubectl> => {
    ready ??= (async () => {
      const within = await fixture().inNewNamespace()
      await within.run('create -f -', [], shop)
      return within
    })()
    return ready.then(({ access }) => new Kubectl({ ...kubectl.access, namespace: access.namespace as string }))
  }

  test('cordon, uncordon and taint', async () => {
    const { kubectl } = fixture()
    const both = [
      { node: 'theirs', client: kubectl },
      { node: 'ours00', client: ours(kubectl) },
    ] as const
    for (const { node } of both)
      await kubectl.run(
        'create -f -',
        [],
        JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: node, labels: { kind: node } } }),
      )
    for (const line of nodeCommands) {
      const outputs = await Promise.all(
        both.map(async ({ node, client }) => {
          const [first = '', ...rest] = line.replaceAll('NODE', node).split(' ')
          const { stdout, code } = await client.run(first, rest)
          return [line, stdout.replaceAll(node, 'NODE'), code]
        }),
      )
      assert.deepEqual(outputs[1], outputs[0])
    }
  })

  test('the annotation last-applied-configuration', async () => {
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {note: "<b>"}}\ndata: {b: "1", a: "2"}\n'
    const namespaced = await Promise.all([fixture().inNewNamespace(), fixture().inNewNamespace()])
    const seen = []
    for (const client of [namespaced[0], ours(namespaced[1])]) {
      const recorded: string[] = []
      const recordAnnotations = async (): Promise<unknown> =>
        recorded.push(
          (await client.ok('get cm kept -o jsonpath={.metadata.annotations}')).replaceAll(client.access.namespace as string, 'space'),
        )
      await client.run('create -f - --save-config', [], map)
      await recordAnnotations()
      // An existing annotation is updated.
      await client.run(
        'replace -f -',
        [],
        (await client.ok('get cm kept -o yaml'))
          .replace('b: "1"', 'b: "3"')
          .replace(/\n {2}(?:resourceVersion|uid|creationTimestamp): .*/g, '')
          .replace(/\n {2}managedFields:(?:\n {2}[- ] .*)*/, ''),
      )
      await recordAnnotations()
      await client.run('replace -f - --save-config', [], map.replace('"2"', '"4"'))
      await recordAnnotations()
      seen.push(recorded)
    }
    assert.deepEqual(seen[1], seen[0])
    assert.match(seen[0]?.[2] ?? '', /last-applied-configuration.*\\"a\\":\\"4\\"/)
  })

  test('write commands', async () => {
    const namespaced = await Promise.all([fixture().inNewNamespace(), fixture().inNewNamespace()])
    const [kubectl, clusterctl] = [namespaced[0], ours(namespaced[1])]
    for (const client of [kubectl, clusterctl]) {
      const { stdout } = await client.run('create -f -', [], shop)
      assert.equal(stdout, 'deployment.apps/web created\nconfigmap/prices created\nconfigmap/names created\nservice/web created\n')
    }
    for (const args of writeCommands) {
      const [first = '', ...rest] = args
      const [a, b] = await Promise.all([kubectl.run(first, rest), clusterctl.run(first, rest)])
      const title = args.join(' ')
      assert.equal(withoutAges(b.stdout).replaceAll(' condition met', ''), withoutAges(a.stdout), `${title}: ${b.stderr}`)
      assert.equal(b.code, a.code, `${title}: ${b.stderr}\n${a.stderr}`)
    }
  })
})
