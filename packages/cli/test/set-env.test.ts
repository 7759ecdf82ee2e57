// `set env`: arguments, stdin, references to ConfigMaps and Secrets, lists, --local.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { matchesWildcard } from '../src/commands/workloads/environment.js'
import { useServer } from './harness.js'

const start = useServer()
const namespace = 'default'
type Variables = readonly { readonly name?: string; readonly value?: string; readonly valueFrom?: object }[]

describe('set env', { concurrency: 1 }, () => {
  const pods = () => start().server.client.core.v1.pods(namespace)
  const deployments = () => start().server.client.apps.v1.deployments(namespace)
  before(async () => {
    const { core } = start().server.client
    await core.v1.configMaps(namespace).create({ metadata: { name: 'settings' }, data: { 'log.level': 'debug', color: 'red' } })
    await core.v1.secrets(namespace).create({ metadata: { name: 'login' }, stringData: { user: 'alice' } })
  })

  async function makeDeployment(name: string): Promise<void> {
    await deployments().create({
      metadata: { name },
      spec: {
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            initContainers: [{ name: 'prepare', image: 'x' }],
            containers: [
              {
                name: 'web',
                image: 'x',
                env: [
                  { name: 'A', value: '1' },
                  { name: 'B', value: '2' },
                ],
              },
              { name: 'log', image: 'x' },
            ],
          },
        },
      },
    })
  }

  /** Variables of all containers: the init container last. */
  async function envOf(name: string): Promise<readonly Variables[]> {
    const { spec } = await deployments().get(name)
    const { containers = [], initContainers = [] } = spec?.template?.spec ?? {}
    return [...containers, ...initContainers].map(({ env = [] }) => env as Variables)
  }

  test('sets and removes variables, and keeps the order of the others', async () => {
    const { runHere } = start()
    await makeDeployment('order')
    assert.deepEqual(await runHere(['set', 'env', 'deployment/order', 'C=x=y', 'A=9', 'B-']), {
      code: 0,
      stdout: 'deployment.apps/order env updated\n',
      stderr: '',
    })
    const [web, log, prepare] = await envOf('order')
    const both = [
      { name: 'C', value: 'x=y' },
      { name: 'A', value: '9' },
    ]
    assert.deepEqual(web, both.toReversed())
    assert.deepEqual([log, prepare], [both, both])
    assert.equal((await runHere(['set', 'env', 'deployment', 'order', 'A=9'])).stdout, '', 'unchanged objects are not printed')
    await runHere(['set', 'env', 'deployments', '--all', '-c', 'l*', 'A-', 'C-'])
    assert.deepEqual((await envOf('order'))[1], [])
    assert.equal((await envOf('order'))[0]?.length, 2)
  })

  test('--overwrite=false, -c without a match, and wrong usage', async () => {
    const { runHere } = start()
    await makeDeployment('strict')
    const fails = async (args: readonly string[], pattern: RegExp): Promise<void> => {
      const { code, stderr } = await runHere(['set', 'env', ...args])
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, pattern)
    }
    await fails(['deployment/strict', 'A=2', '--overwrite=false'], /^error: 'A' already has a value \(1\), and --overwrite is false\n$/)
    await fails(
      ['deployment/strict', 'A=2', 'B', 'C=3'],
      /all resources must be specified before environment changes: deployment\/strict A=2 B C=3/,
    )
    await fails(['deployment/strict', '1A=2'], /"1A" is not a valid key name/)
    await fails(['deployment/strict', 'A=2', 'A-'], /can not both modify and remove the same environment variable in the same command/)
    await fails(['deployment/strict', '--keys=a', 'A=1'], /when specifying --keys, a configmap or secret must be provided with --from/)
    await fails(['deployment/strict', '--list', '-o', 'yaml'], /--list and --output may not be specified together/)
    await fails(['deployment/strict', '--from=deployment/strict'], /unsupported resource specified in --from/)
    await fails(['deployment/strict'], /at least one environment variable must be provided/)
    await fails(['A=2'], /one or more resources must be specified/)
    await fails(['cm/settings', 'A=2'], /configmaps\/settings the object is not a pod or does not have a pod template: ConfigMap/)
    const { code, stderr } = await runHere(['set', 'env', 'deployment/strict', '-c', 'none', 'A=2'])
    assert.deepEqual([code, stderr], [0, 'warning: Deployment/strict does not have any containers matching "none"\n'])
  })

  test('--from, --keys and --prefix refer to keys; a later value replaces the reference', async () => {
    const { runHere } = start()
    await makeDeployment('referring')
    await runHere(['set', 'env', 'deployment/referring', '-c', 'web', '--from=configmap/settings', '--keys=log.level', '--prefix=APP_'])
    await runHere(['set', 'env', 'deployment/referring', '-c', 'web', '--from=secret/login'])
    const level = { name: 'APP_LOG_LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'log.level' } } }
    const user = { name: 'USER', valueFrom: { secretKeyRef: { name: 'login', key: 'user' } } }
    assert.deepEqual((await envOf('referring'))[0]?.slice(2), [level, user])
    const listed = await runHere(['set', 'env', 'deployment/referring', '-c', 'web', '--list'])
    assert.equal(
      listed.stdout,
      '# Deployment referring, container web\nA=1\nB=2\n# APP_LOG_LEVEL from configmap settings, key log.level\n# USER from secret login, key user\n',
    )
    const resolved = await runHere(['set', 'env', 'deployment/referring', '-c', 'web', '--list', '--resolve'])
    assert.match(resolved.stdout, /\nAPP_LOG_LEVEL=debug\nUSER=alice\n$/)
    await runHere(['set', 'env', 'deployment/referring', '-c', 'web', 'USER=bob', 'A-'])
    assert.deepEqual((await envOf('referring'))[0], [{ name: 'B', value: '2' }, level, { name: 'USER', value: 'bob' }])
    await runHere(['set', 'env', 'deployment/referring', '-c', 'web', '--from=configmap/settings', '--prefix=', '--keys=color'])
    await runHere(['set', 'env', 'deployment/referring', '-c', 'web', '--from=secret/login'])
    assert.deepEqual((await envOf('referring'))[0]?.slice(2), [
      user,
      { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
    ])
  })

  test('--list --resolve prints fields and resources, and fails for missing keys', async () => {
    const { runHere } = start()
    const fieldRef = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } })
    await pods().create({
      metadata: { name: 'fields', labels: { tier: 'front' } },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'x',
            resources: { limits: { cpu: '1500m', memory: '1Gi' } },
            env: [
              { name: 'NAME', ...fieldRef('metadata.name') },
              { name: 'TIER', ...fieldRef("metadata.labels['tier']") },
              { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
              { name: 'MIB', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
              { name: 'GONE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'gone' } } },
            ],
          },
        ],
      },
    })
    assert.deepEqual(await runHere(['set', 'env', 'pod/fields', '--list', '--resolve']), {
      code: 1,
      stdout: '# Pod fields, container main\nNAME=fields\nTIER=front\nCPU=2\nMIB=1024\n# GONE from configmap settings, key gone\n',
      stderr:
        'error retrieving reference for GONE: key gone not found in config map settings\nerror: failed to retrieve valueFrom references\n',
    })
  })

  test('-e - reads stdin; CronJobs; dry runs; --local sends nothing', async () => {
    const { runHere, server } = start()
    const { cronJobs } = server.client.batch.v1
    await runHere(['create', 'cronjob', 'nightly', '--image=x', '--schedule=@daily'])
    await runHere(['set', 'env', 'cronjob/nightly', '-e', '-', '-e', 'B=2'], 'A=1 # comment\n# C=3\nnothing\n')
    const job = await cronJobs(namespace).get('nightly')
    assert.deepEqual(job.spec?.jobTemplate?.spec?.template?.spec?.containers?.[0]?.env, [
      { name: 'A', value: '1 ' },
      { name: 'B', value: '2' },
    ])
    await makeDeployment('dry')
    const dry = await runHere(['set', 'env', 'deployment/dry', 'A=5', '--dry-run=client', '-o', 'jsonpath={..env[0].value}'])
    assert.equal(dry.stdout, '5 5 5')
    assert.equal((await envOf('dry'))[0]?.[0]?.value, '1')
    const file = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'local' },
      spec: { containers: [{ name: 'main', image: 'x', env: [{ name: 'A', value: '1' }] }] },
    })
    const offline = ['--server', 'https://127.0.0.1:1']
    const local = await runHere(['set', 'env', '-f', '-', 'A-', 'B=2', '--local', '-o', 'yaml', ...offline], file)
    assert.equal(local.stdout.includes('env:\n    - name: B\n      value: "2"\n'), true, local.stdout + local.stderr)
    const listed = await runHere(['set', 'env', '-f', '-', '--local', '--list', ...offline], file)
    assert.equal(listed.stdout, '# Pod local, container main\nA=1\n', listed.stderr)
  })
})

test('container wildcards', () => {
  for (const [pattern, name, isMatch] of [
    ['*', 'web', true],
    ['web', 'web', true],
    ['we', 'web', false],
    ['w*b', 'web', true],
    ['a*a', 'a', false],
    ['*e*', 'web', true],
    ['*x*', 'web', false],
  ] as const)
    assert.equal(matchesWildcard(pattern, name), isMatch, pattern)
})
