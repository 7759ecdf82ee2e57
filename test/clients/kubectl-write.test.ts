// The command line client of Debian as a writer of single objects: create in its many forms, patch, edit, scale, label, annotate, dry runs.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { kubectlSuite, skipBefore } from './kubectl-suite.js'
import { deploymentOf, podOf, serviceOf } from './manifests.js'

kubectlSuite({ title: 'kubectl writes' }, (bench) => {
  test('create from files', async () => {
    const kubectl = await bench().inNewNamespace()
    const { home } = kubectl.access
    const yaml = join(home, 'maps.yaml')
    writeFileSync(yaml, twoMaps)
    assert.equal(await kubectl.ok(`create -f ${yaml}`), 'configmap/first created\nconfigmap/second created\n')
    const json = join(home, 'web.json')
    writeFileSync(json, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [deploymentOf('web'), serviceOf('web')] }))
    assert.equal(await kubectl.ok(`create -f ${json}`), 'deployment.apps/web created\nservice/web created\n')
    const maps = await kubectl.json('get configmap first second')
    assert.deepEqual(
      maps.items.map(({ data }) => data),
      [{ text: 'a\nb\n' }, { yes: 'true', number: '3' }],
    )
    await kubectl.fails(`create -f ${yaml}`, /Error from server \(AlreadyExists\): .*configmaps "first" already exists/)
    assert.match(await kubectl.ok(`get -f ${yaml} -o name`), /^configmap\/first\nconfigmap\/second\n$/)
    assert.match(await kubectl.ok(`delete -f ${yaml}`), /configmap "second" deleted/)
  })

  test('what is wrong is refused', async () => {
    const kubectl = await bench().inNewNamespace()
    const bad = { ...podOf('bad'), spec: { containers: [] } }
    await kubectl.fails('create -f -', /The Pod "bad" is invalid: spec\.containers: Required value/, bad)
    const unknown = { ...podOf('bad'), spec: { ...podOf('bad').spec, colour: 'red' } }
    await kubectl.fails('create -f -', /unknown field "(?:spec\.)?colour"/, unknown)
    await kubectl.fails('create -f -', /no matches for kind "Gizmo"/, { apiVersion: 'v1', kind: 'Gizmo', metadata: { name: 'x' } })
    const lost = podOf('lost', { namespace: 'nowhere' })
    await bench().kubectl.fails('create -f -', /Error from server \(NotFound\): .*namespaces "nowhere" not found/, lost)
  })

  const generated: readonly {
    readonly line: string
    readonly rest?: readonly string[]
    readonly path: string
    readonly expected: string
  }[] = [
    { line: 'create configmap made --from-literal=a=1 --from-literal=b=2', path: '{.data.a}{.data.b}', expected: '12' },
    { line: 'create secret generic made --from-literal=key=word', path: '{.type} {.data.key}', expected: 'Opaque d29yZA==' },
    {
      line: 'create secret docker-registry made --docker-server=r.example --docker-username=u --docker-password=p',
      path: '{.type}',
      expected: 'kubernetes.io/dockerconfigjson',
    },
    { line: 'create serviceaccount made', path: '{.metadata.name}', expected: 'made' },
    { line: 'create role made --verb=get,list --resource=pods,deployments.apps', path: '{.rules[1].apiGroups[0]}', expected: 'apps' },
    { line: 'create rolebinding made --role=made --user=jane', path: '{.subjects[0].name}{.roleRef.kind}', expected: 'janeRole' },
    { line: 'create quota made --hard=pods=5,requests.cpu=2', path: '{.spec.hard.pods}', expected: '5' },
    { line: 'create deployment made --image=registry.example/x:1', path: '{.spec.template.spec.containers[0].name}', expected: 'x' },
    { line: 'create service clusterip made --tcp=80:8080', path: '{.spec.ports[0].targetPort}', expected: '8080' },
    { line: 'create service nodeport made --tcp=80', path: '{.spec.type}', expected: 'NodePort' },
    { line: 'create service externalname made --external-name=e.example', path: '{.spec.externalName}', expected: 'e.example' },
    { line: 'create job made --image=registry.example/x:1 -- true', path: '{.spec.template.spec.restartPolicy}', expected: 'Never' },
    { line: 'create poddisruptionbudget made --selector=app=x --min-available=1', path: '{.spec.minAvailable}', expected: '1' },
  ]
  test('create of kinds by name', async (context) => {
    for (const { line, rest = [], path, expected } of generated) {
      const version = bench().kubectl.access.minor
      if (line.includes('poddisruptionbudget') && version < 21) continue
      await context.test(line.replace(/ -.*/, ''), async () => {
        const kubectl = await bench().inNewNamespace()
        await kubectl.ok(line, ...rest)
        const kind = line.split(' ')[1] ?? ''
        assert.equal(await kubectl.ok(`get ${kind} made -o`, `jsonpath=${path}`), expected)
      })
    }
  })

  test('create of kinds without a namespace', async () => {
    const { kubectl } = bench()
    assert.equal(await kubectl.ok('create namespace made'), 'namespace/made created\n')
    assert.equal(
      await kubectl.ok('create clusterrole made --verb=get --resource=nodes'),
      'clusterrole.rbac.authorization.k8s.io/made created\n',
    )
    await kubectl.ok('create clusterrole made-path --verb=get --non-resource-url=/healthz')
    await kubectl.ok('create clusterrolebinding made --clusterrole=made --group=readers --serviceaccount=made:robot')
    assert.match(await kubectl.ok('create priorityclass made --value=1000'), /priorityclass\.scheduling\.k8s\.io\/made created/)
    assert.equal(await kubectl.ok('get clusterrolebinding made -o', 'jsonpath={.subjects[*].kind}'), 'Group ServiceAccount')
    assert.match(await kubectl.ok('get namespaces made'), /^made +Active /m)
  })

  test('what is too much is warned of', skipBefore(25), async () => {
    const kubectl = await bench().inNewNamespace()
    const pod = podOf('coloured', {}, { colour: 'red' })
    const { code, stdout, stderr } = await kubectl.run('create --validate=warn -f -', [], JSON.stringify(pod))
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'pod/coloured created\n' }, stderr)
    assert.match(stderr, /Warning: unknown field "spec\.colour"/)
  })

  test('cron jobs and ingresses', skipBefore(21), async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.ok('create cronjob made --image=x', '--schedule=*/5 * * * *')
    assert.match(await kubectl.ok('get cronjob made'), /made +\*\/5 \* \* \* \*/)
    await kubectl.ok('create job once --from=cronjob/made')
    await kubectl.ok('create ingress made --rule=h.example/p*=svc:80')
    assert.match(await kubectl.ok('get ingress made'), /made +<none> +h\.example +80 /)
  })

  test('tokens of service accounts', skipBefore(24), async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.ok('create serviceaccount robot')
    const token = (await kubectl.ok('create token robot --duration=20m')).trim()
    assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  test('run, expose, autoscale, set', async () => {
    const kubectl = await bench().inNewNamespace()
    assert.equal(await kubectl.ok('run one --image=registry.example/x:1 --port=80 --labels=app=one'), 'pod/one created\n')
    assert.match(await kubectl.ok('expose pod one --port=80'), /service\/one exposed/)
    await kubectl.ok('create deployment web --image=registry.example/web:1')
    assert.match(await kubectl.ok('autoscale deployment web --min=1 --max=3'), /horizontalpodautoscaler\.autoscaling\/web autoscaled/)
    assert.match(await kubectl.ok('get hpa web'), /^web +Deployment\/web +\S+ +1 +3 +0 /m)
    assert.match(await kubectl.ok('set image deployment/web web=registry.example/web:2'), /image updated/)
    assert.match(await kubectl.ok('set env deployment/web COLOUR=red'), /env updated/)
    assert.match(await kubectl.ok('set resources deployment/web --limits=cpu=200m,memory=64Mi'), /resource requirements updated/)
    const path = 'jsonpath={range .spec.template.spec.containers[0]}{.image} {.env[0].value} {.resources.limits.cpu}{end}'
    assert.equal(await kubectl.ok('get deployment web -o', path), 'registry.example/web:2 red 200m')
    assert.match(await kubectl.ok('set serviceaccount deployment web robot'), /serviceaccount updated/)
  })

  test('patch of every type', async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.send('create -f -', deploymentOf('web'))
    const env = 'jsonpath={.spec.template.spec.containers[0].env[*].name}'
    const strategic = { spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: 'NEW', value: '1' }] }] } } } }
    assert.match(await kubectl.ok('patch deployment web -p', JSON.stringify(strategic)), /deployment\.apps\/web patched/)
    assert.equal(await kubectl.ok('get deployment web -o', env), 'NEW COLOUR SIZE')
    const merge = { spec: { template: { spec: { containers: [{ name: 'web', image: 'x', env: [{ name: 'ONLY', value: '1' }] }] } } } }
    await kubectl.ok('patch deployment web --type=merge -p', JSON.stringify(merge))
    assert.equal(await kubectl.ok('get deployment web -o', env), 'ONLY')
    const operations = [
      { op: 'test', path: '/spec/replicas', value: 2 },
      { op: 'replace', path: '/spec/replicas', value: 5 },
    ]
    await kubectl.ok('patch deployment web --type=json -p', JSON.stringify(operations))
    assert.equal(await kubectl.ok('get deployment web -o', 'jsonpath={.spec.replicas}'), '5')
    assert.match(await kubectl.ok('patch deployment web -p', '{"spec":{"replicas":5}}'), /patched \(no change\)/)
    const { code, stderr } = await kubectl.run('patch deployment web --type=json -p', [JSON.stringify(operations)])
    assert.equal(code, 1)
    assert.match(stderr, /The request is invalid|test operation|testing path \/spec\/replicas/i)
    const refused = await kubectl.run('patch deployment web -p', ['{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'])
    assert.match(refused.stderr, /The Deployment "web" is invalid/)
  })

  test('edit', async () => {
    const kubectl = (await bench().inNewNamespace()).with({ EDITOR: 'sed -i s/blue/red/' })
    await kubectl.send('create -f -', deploymentOf('web'))
    assert.match(await kubectl.ok('edit deployment web'), /deployment\.apps\/web edited/)
    const path = 'jsonpath={.spec.template.spec.containers[0].env[0].value}'
    assert.equal(await kubectl.ok('get deployment web -o', path), 'red')
    const { stdout, stderr } = await kubectl.run('edit deployment web')
    assert.match(stdout + stderr, /Edit cancelled, no changes made/)
  })

  test('replace', async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.send('create -f -', deploymentOf('web'))
    const object = await kubectl.json('get deployment web')
    await kubectl.ok('annotate deployment web touched=yes')
    await kubectl.fails('replace -f -', /Error from server \(Conflict\).*the object has been modified/s, object)
    assert.match(await kubectl.send('replace -f -', deploymentOf('web', { replicas: 7 })), /replaced/)
    const replaced = await kubectl.json('get deployment web')
    assert.deepEqual([replaced.metadata.uid, replaced.metadata.annotations], [object.metadata.uid, undefined])
    assert.match(await kubectl.send('replace --force -f -', deploymentOf('web')), /replaced/)
    assert.notEqual((await kubectl.json('get deployment web')).metadata.uid, object.metadata.uid)
  })

  test('scale', async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.send('create -f -', deploymentOf('web'))
    assert.match(await kubectl.ok('scale deployment web --replicas=4'), /deployment\.apps\/web scaled/)
    assert.match(await kubectl.ok('get deployment web'), /^web +0\/4 /m)
    await kubectl.fails('scale deployment web --current-replicas=1 --replicas=9', /expected replicas to be 1/i)
    await kubectl.ok('scale deployment web --current-replicas=4 --replicas=0')
    assert.equal(await kubectl.ok('get deployment web -o', 'jsonpath={.spec.replicas} {.metadata.generation}'), '0 3')
  })

  test('label and annotate', async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.send('create -f -', podOf('one'), podOf('two'))
    assert.match(await kubectl.ok('label pods one two tier=a zone=x'), /pod\/one labeled\npod\/two labeled/)
    assert.match(await kubectl.ok('label pods -l tier=a zone- seen=yes'), /pod\/one (?:un)?labeled/)
    await kubectl.fails('label pod one tier=b', /'tier' already has a value \(a\), and --overwrite is false/)
    await kubectl.fails('label pod one tier=-bad-', /invalid label value|is invalid/)
    assert.deepEqual((await kubectl.json('get pod one')).metadata.labels, { seen: 'yes', tier: 'a' })
    assert.match(await kubectl.ok('annotate pods --all note=hello'), /pod\/two annotated?/)
    await kubectl.ok('annotate pod one --overwrite note=', 'more=two words')
    assert.deepEqual((await kubectl.json('get pod one')).metadata.annotations, { more: 'two words', note: '' })
    const { resourceVersion } = (await kubectl.json('get pod one')).metadata
    await kubectl.fails('annotate pod one --resource-version=1 late=yes', /the object has been modified|Conflict/)
    await kubectl.ok(`annotate pod one --resource-version=${resourceVersion} late=yes note- more-`)
    assert.deepEqual((await kubectl.json('get pod one')).metadata.annotations, { late: 'yes' })
  })

  test('dry runs leave nothing behind', async () => {
    const kubectl = await bench().inNewNamespace()
    await kubectl.send('create -f -', podOf('there'))
    assert.equal(await kubectl.send('create --dry-run=server -f -', podOf('one')), 'pod/one created (server dry run)\n')
    assert.equal(await kubectl.send('create --dry-run=client -f -', podOf('two')), 'pod/two created (dry run)\n')
    const defaulted = await kubectl.send('create --dry-run=server -o yaml -f -', podOf('one'))
    assert.match(defaulted, /restartPolicy: Always/)
    assert.match(defaulted, /uid: /)
    assert.match(await kubectl.ok('label pod there a=b --dry-run=server'), /labeled/)
    assert.match(await kubectl.ok('delete pod there --dry-run=server'), /pod "there" deleted \(server dry run\)/)
    assert.match(await kubectl.ok('create deployment made --image=x --dry-run=client -o yaml'), /kind: Deployment/)
    await kubectl.fails('create --dry-run=server -f -', /AlreadyExists/, podOf('there'))
    assert.equal(await kubectl.ok('get pods -o name'), 'pod/there\n')
    assert.equal((await kubectl.json('get pod there')).metadata.labels, undefined)
  })
})

const twoMaps = `# Two maps in one file.
apiVersion: v1
kind: ConfigMap
metadata:
  name: first
data:
  text: |
    a
    b
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second}
data: {"yes": "true", number: "3"}
`
