// The command check: findings with their lines, output formats and exit codes.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runCheckCommand } from './check-command.js'
import { readTextFile } from './read-manifests.js'

const crd = `apiVersion: apiextensions.cluster.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: shops, singular: shop, kind: Shop, listKind: ShopList }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: { type: integer, maximum: 9, default: 1 }
              least: { type: integer }
            x-kubernetes-validations:
            - rule: '!has(self.least) || self.size >= self.least'
`
const shop = (name: string, spec: string): string => `apiVersion: example.com/v1\nkind: Shop\nmetadata:\n  name: ${name}\nspec:\n${spec}`
const policy = `apiVersion: admissionregistration.cluster.io/v1alpha1
kind: ValidatingAdmissionPolicy
metadata: { name: few }
spec:
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    namespaceSelector: { matchLabels: { cluster.io/metadata.name: default } }
    resourceRules:
    - { apiGroups: [example.com], apiVersions: ['*'], operations: [CREATE], resources: [shops] }
  validations:
  - expression: object.spec.size <= int(params.data.most)
---
apiVersion: admissionregistration.cluster.io/v1alpha1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: few }
spec: { policyName: few, paramRef: { name: limits, namespace: default } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: limits }
data: { most: '5' }
`

describe('check', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'check-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  /** Runs check on files; returns its output without the folder, and the exit code. */
  async function check(files: { readonly [name: string]: string }, ...args: readonly string[]) {
    rmSync(folder, { recursive: true })
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    let printed = ''
    let errors = ''
    const code = await runCheckCommand([...args, folder], {
      print: (text) => {
        printed += text
      },
      printError: (text) => {
        errors += text
      },
    })
    return { code, errors, printed: printed.replaceAll(`${folder}/`, '') }
  }

  it('valid manifests have no findings; the costs of expressions are printed', async () => {
    const files = { 'a/definition.yaml': crd, 'b.yaml': shop('s', '  size: 3\n  least: 2\n'), 'note.txt': 'no: [' }
    const { code, printed } = await check(files)
    assert.equal(code, 0, printed)
    const [, cost, summary] = printed.trimEnd().split('\n')
    assert.equal(cost, '  a/definition.yaml:22: 6 7 1/1 !has(self.least) || self.size >= self.least')
    assert.match(summary ?? '', /^0 failures in 2 objects of 2 files, /)
  })

  const rows: readonly { readonly title: string; readonly text: string; readonly finding: string }[] = [
    {
      title: 'an unknown field',
      text: shop('s', '  size: 1\n  colour: red\n'),
      finding: 'b.yaml:7: example.com/v1 Shop s: spec.colour: unknown field "spec.colour"',
    },
    {
      title: 'an invalid value in the second document',
      text: `${shop('s', '  size: 1\n')}---\n${shop('t', '  size: 10\n')}`,
      finding: 'b.yaml:13: example.com/v1 Shop t: spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
    },
    {
      title: 'a failed CEL rule',
      text: shop('s', '  least: 2\n'),
      finding: 'b.yaml:5: example.com/v1 Shop s: spec: Invalid value: "object": failed rule: !has(self.least) || self.size >= self.least',
    },
    {
      title: 'an unknown kind',
      text: 'apiVersion: apps/v9\nkind: Deployment\n',
      finding: 'b.yaml:1: apps/v9 Deployment: apiVersion: unknown kind "Deployment" in version "apps/v9"',
    },
    {
      title: 'a group of the other identity',
      text: 'kind: Role\napiVersion: rbac.authorization.k8s.io/v1\n',
      finding:
        'b.yaml:2: rbac.authorization.k8s.io/v1 Role: apiVersion: unknown kind "Role" in version "rbac.authorization.k8s.io/v1"; did you mean --identity=kubernetes?',
    },
    {
      title: 'a value of another type in JSON',
      text: '{"apiVersion": "apps/v1", "kind": "Deployment",\n"metadata": {"name": "d"},\n"spec": {\n"replicas": "two"}}',
      finding:
        'b.yaml:4: apps/v1 Deployment d: spec.replicas: Deployment in version "v1" cannot be handled as a Deployment: json: spec.replicas: cannot read string as int32',
    },
    {
      title: 'an item of a list',
      text: 'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: { name: a }\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: B_\n',
      finding: 'b.yaml:10: v1 ConfigMap B_: metadata.name: Invalid value: "B_": a lowercase RFC 1123 subdomain',
    },
    { title: 'invalid YAML', text: 'a: 1\nb: {\n', finding: 'b.yaml:2: yaml: line 2: did not find expected node content' },
    { title: 'a document that is not an object', text: '- a\n', finding: 'b.yaml:1: an object is expected' },
  ]
  for (const { title, text, finding } of rows) {
    it(`finds ${title}`, async () => {
      const { code, printed } = await check({ 'a.yaml': crd, 'b.yaml': text }, '--quiet')
      assert.equal(printed.split('\n')[0]?.slice(0, finding.length), finding)
      assert.equal(code, 1)
    })
  }

  it('checks objects with policies, their parameters and namespaces, and traces the failed expression', async () => {
    const otherNamespace = shop('far', '  size: 7\n').replace('name: far', 'name: far\n  namespace: far')
    const files = { 'a.yaml': crd, 'b.yaml': policy, 'c.yaml': `${shop('s', '  size: 6\n')}---\n${otherNamespace}` }
    const { code, printed } = await check(files, '--quiet', '--trace')
    assert.equal(code, 1)
    assert.deepEqual(printed.trimEnd().split('\n'), [
      "c.yaml:1: example.com/v1 Shop s: ValidatingAdmissionPolicy 'few' with binding 'few' denied request: failed expression: object.spec.size <= int(params.data.most)",
      '    object.spec.size = 6',
      '    int(params.data.most) = 5',
      '    params.data.most = "5"',
    ])
  })

  it('prints JSON and JUnit', async () => {
    const files = { 'a.yaml': crd, 'b.yaml': `${shop('s', '  size: 10\n')}---\n${shop('t', '  size: 1\n')}` }
    const { summary, findings, expressions } = JSON.parse((await check(files, '--output=json')).printed)
    assert.deepEqual([summary.files, summary.objects, summary.failures, findings.length, expressions.length], [2, 3, 1, 1, 1])
    assert.deepEqual([findings[0].line, findings[0].field, expressions[0].asked], [6, 'spec.size', 2])
    const { printed } = await check(files, '--output', 'junit')
    assert.match(printed, /<testsuite name="b.yaml" tests="2" failures="1">/)
    assert.match(printed, /<testcase classname="b.yaml" name="example.com\/v1 Shop t"\/>/)
    assert.match(printed, /<failure message="Invalid value: 10: spec.size in body should be less than or equal to 9">/)
  })

  it('shows control characters of names and messages', async () => {
    const { code, printed } = await check({ 'a.yaml': 'apiVersion: v1\nkind: "X\\e[2J"\nmetadata: { name: "n\\e]0;T\\a\\nfake" }\n' })
    assert.equal(code, 1)
    assert.match(printed, /v1 X\^\[\[2J n\^\[\]0;T\^G\\nfake: /)
    assert.doesNotMatch(printed, /[\0-\x08\x0b-\x1f\x7f-\x9f]/)
  })

  it('reads regular files only, up to the size limit', async () => {
    let printed = ''
    const print = (text: string): void => {
      printed += text
    }
    assert.equal(await runCheckCommand(['/dev/zero'], { print, printError: print }), 1)
    assert.match(printed, /^\/dev\/zero:1: not a regular file$/m)
    await check({ 'a.yaml': crd })
    assert.equal(readTextFile(join(folder, 'a.yaml')), crd)
    assert.throws(() => readTextFile(join(folder, 'a.yaml'), 100), /longer than 100 bytes/)
  })

  it('uses the default feature gates of the server', async () => {
    const head = 'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: a }\nspec:\n  maxReplicas: 3\n'
    const scaled = `${head}  scaleTargetRef: { kind: Deployment, name: d, apiVersion: apps/v1 }\n  minReplicas: `
    assert.equal((await check({ 'a.yaml': `${scaled}1\n` })).code, 0)
    assert.match((await check({ 'a.yaml': `${scaled}0\n` })).printed, /spec\.minReplicas: Invalid value: 0/)
  })

  it('rejects an invalid command line', async () => {
    for (const args of [['--output=xml'], ['--identity=mine'], ['--nonsense'], ['/nowhere/at/all']]) {
      const { code, errors } = await check({ 'a.yaml': crd }, ...args)
      assert.equal(code, 2, args.join(' '))
      assert.match(errors, /^cluster-apiserver check: /)
    }
    assert.equal(await runCheckCommand([], { print: () => undefined, printError: () => undefined }), 2)
    assert.equal(await runCheckCommand(['--help'], { print: () => undefined, printError: () => undefined }), 0)
  })
})
