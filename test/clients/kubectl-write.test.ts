// kubectl (Debian): create, patch, edit, replace, scale, label, annotate, dry run.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { kubectlSuite, skipBefore } from './kubectl-suite.js'
import { deploymentOf, podOf, serviceOf } from './manifests.js'

kubectlSuite({ title: 'kubectl create, edit, replace' }, (fixture) => {
  test('create from files', async () => {
    const kubectl = await fixture().inNewNamespace()
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

  test('invalid objects are rejected', async () => {
    const kubectl = await fixture().inNewNamespace()
    const bad = { ...podOf('bad'), spec: { containers: [] } }
    await kubectl.fails('create -f -', /The Pod "bad" is invalid: spec\.containers: Required value/, bad)
    const unknown = { ...podOf('bad'), spec: { ...podOf('bad').spec, colour: 'red' } }
    await kubectl.fails('create -f -', /unknown field "(?:spec\.)?colour"/, unknown)
    await kubectl.fails('create -f -', /no matches for kind "Gizmo"/, { apiVersion: 'v1', kind: 'Gizmo', metadata: { name: 'x' } })
    const inMissingNamespace = podOf('lost', { namespace: 'nowhere' })
    await fixture().kubectl.fails('create -f -', /Error from server \(NotFound\): .*namespaces "nowhere" not found/, inMissingNamespace)
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
  test('create with generators', async (context) => {
    for (const { line, rest = [], path, expected } of generated) {
      const version = fixture().kubectl.access.minor
      if (line.includes('poddisruptionbudget') && version < 21) continue
      await context.test(line.replace(/ -.*/, ''), async () => {
        const kubectl = await fixture().inNewNamespace()
        await kubectl.ok(line, ...rest)
        const kind = line.split(' ')[1] ?? ''
        assert.equal(await kubectl.ok(`get ${kind} made -o`, `jsonpath=${path}`), expected)
      })
    }
  })

  test('create of cluster-scoped kinds with generators', async () => {
    const { kubectl } = fixture()
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

  test('warnings are printed', skipBefore(25), async () => {
    const kubectl = await fixture().inNewNamespace()
    const pod = podOf('coloured', {}, { colour: 'red' })
    const { code, stdout, stderr } = await kubectl.run('create --validate=warn -f -', [], JSON.stringify(pod))
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'pod/coloured created\n' }, stderr)
    assert.match(stderr, /Warning: unknown field "spec\.colour"/)
  })

  test('create cronjob and ingress', skipBefore(21), async () => {
    const kubectl = await fixture().inNewNamespace()
    await kubectl.ok('create cronjob made --image=x', '--schedule=*/5 * * * *')
    assert.match(await kubectl.ok('get cronjob made'), /made +\*\/5 \* \* \* \*/)
    await kubectl.ok('create job once --from=cronjob/made')
    await kubectl.ok('create ingress made --rule=h.example/p*=svc:80')
    assert.match(await kubectl.ok('get ingress made'), /made +<none> +h\.example +80 /)
  })

  test('create token', skipBefore(24), async () => {
    const kubectl = await fixture().inNewNamespace()
    await kubectl.ok('create serviceaccount robot')
    const token = (await kubectl.ok('create token robot --duration=20m')).trim()
    assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  test('edit', async () => {
    const kubectl = (await fixture().inNewNamespace()).with({ EDITOR: 'sed -i s/blue/red/' })
    await kubectl.send('create -f -', deploymentOf('web'))
    assert.match(await kubectl.ok('edit deployment web'), /deployment\.apps\/web edited/)
    const path = 'jsonpath={.spec.template.spec.containers[0].env[0].value}'
    assert.equal(await kubectl.ok('get deployment web -o', path), 'red')
    const { stdout, stderr } = await kubectl.run('edit deployment web')
    assert.match(stdout + stderr, /Edit cancelled, no changes made/)
  })

  test('replace', async () => {
    const kubectl = await fixture().inNewNamespace()
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

  test('--dry-run stores nothing', async () => {
    const kubectl = await fixture().inNewNamespace()
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
