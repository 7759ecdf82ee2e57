// Reading AdmissionConfiguration.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { parseFlags } from './flags/parse-flags.js'
import { readAdmission } from './read-admission.js'

const folder = mkdtempSync(join(tmpdir(), 'admission-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'admission.yaml')

const head = 'apiVersion: apiserver.config.cluster.io/v1\nkind: AdmissionConfiguration\n'

function read(text: string, ...flags: readonly string[]) {
  const parsed = parseFlags([`--admission-control-config-file=${file}`, ...flags])
  return readAdmission({ values: parsed.values, files: new Map([[file, text]]) }, identityOf('cluster'))
}

const plugin = (name: string, configuration: object): string => `${head}plugins: ${JSON.stringify([{ name, configuration }])}\n`

test('a configuration is inline, or in a file relative to the AdmissionConfiguration', () => {
  const limits = {
    apiVersion: 'eventratelimit.admission.cluster.io/v1alpha1',
    kind: 'Configuration',
    limits: [{ type: 'User', qps: 1, burst: 2 }],
  }
  const expected = [{ type: 'User', qps: 1, burst: 2, cacheSize: 4096 }]
  assert.deepEqual(read(plugin('EventRateLimit', limits)).config.eventRateLimits, expected)
  writeFileSync(join(folder, 'other.yaml'), JSON.stringify(limits))
  assert.deepEqual(read(`${head}plugins:\n- name: EventRateLimit\n  path: other.yaml\n`).config.eventRateLimits, expected)
})

test('every kind of configuration is read', () => {
  const security = {
    apiVersion: 'pod-security.admission.config.cluster.io/v1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.20' },
    exemptions: { usernames: ['a'] },
  }
  const { podSecurity } = read(plugin('PodSecurity', security)).config
  assert.deepEqual(podSecurity.defaults.enforce, { level: 'baseline', version: 'v1.20' })
  assert.deepEqual([...podSecurity.exemptions.usernames], ['a'])
  const selectors = { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b', some: 'c=d,e=f' } }
  const { nodeSelectors } = read(plugin('PodNodeSelector', selectors)).config
  assert.deepEqual(nodeSelectors.clusterDefault, { a: 'b' })
  assert.deepEqual(nodeSelectors.allowed.get('some'), { c: 'd', e: 'f' })
  const tolerations = {
    apiVersion: 'podtolerationrestriction.admission.cluster.io/v1alpha1',
    kind: 'Configuration',
    default: [{ key: 'a', operator: 'Exists' }],
  }
  assert.deepEqual(read(plugin('PodTolerationRestriction', tolerations)).config.tolerations.defaults, [{ key: 'a', operator: 'Exists' }])
  const quota = {
    apiVersion: 'apiserver.config.cluster.io/v1',
    kind: 'ResourceQuotaConfiguration',
    limitedResources: [{ resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }],
  }
  assert.deepEqual(read(plugin('ResourceQuota', quota)).config.limitedResources[0]?.matchScopes, quota.limitedResources[0]?.matchScopes)
  writeFileSync(join(folder, 'k'), JSON.stringify(connection))
  const images = { imagePolicy: { kubeConfigFile: 'k', allowTTL: -1, retryBackoff: 7 } }
  assert.deepEqual(read(plugin('ImagePolicyWebhook', images)).config.imagePolicy, {
    kubeConfigFile: join(folder, 'k'),
    allowTtlMs: 0,
    denyTtlMs: 30_000,
    retryBackoffMs: 7,
    defaultAllow: false,
  })
  const webhookConfig = { apiVersion: 'apiserver.config.cluster.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile: 'k' }
  const { config, webhookCredentials } = read(plugin('MutatingAdmissionWebhook', webhookConfig))
  assert.deepEqual(config.mutatingWebhooks, { kubeConfigFile: join(folder, 'k') })
  assert.equal(webhookCredentials.mutating('a.example.com:8443')?.authorization?.(), 'Bearer secret')
  assert.equal(webhookCredentials.validating('a.example.com:8443'), undefined)
  assert.equal(read(plugin('ImagePolicyWebhook', images)).imagePolicy?.url, 'https://images.example.com/')
})

const connection = {
  clusters: [{ name: 'c', cluster: { server: 'https://images.example.com/' } }],
  users: [{ name: '*', user: { token: 'secret' } }],
}

test('an unreadable kubeconfig is reported with its path', () => {
  const webhookConfig = { apiVersion: 'apiserver.config.cluster.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile: 'nowhere' }
  assert.throws(() => read(plugin('MutatingAdmissionWebhook', webhookConfig)), /kubeConfigFile .*nowhere: ENOENT/)
})

const eventKind = { apiVersion: 'eventratelimit.admission.cluster.io/v1alpha1', kind: 'Configuration' }
const invalidConfigs: readonly [string, string, RegExp][] = [
  [
    'a file of another kind',
    'apiVersion: v1\nkind: AdmissionConfiguration\n',
    /admission\.yaml: apiVersion: it is not a AdmissionConfiguration/,
  ],
  ['an unknown field', `${head}plugin: []\n`, /plugin: there is no such field/],
  ['an unknown plugin', `${head}plugins: [{name: Nothing}]\n`, /plugins\[0\]\.name: unknown plugin "Nothing"/],
  ['a plugin without configuration', `${head}plugins: [{name: Priority}]\n`, /plugins\[0\]\.name: Priority has no configuration/],
  [
    'a missing plugin file',
    `${head}plugins: [{name: PodSecurity, path: nowhere.yaml}]\n`,
    /plugins\[0\]\.path: cannot read .*nowhere\.yaml/,
  ],
  [
    'a plugin configuration of another kind',
    plugin('PodSecurity', { kind: 'X' }),
    /plugins\[0\]\.configuration\.apiVersion: it is not a PodSecurityConfiguration/,
  ],
  [
    'limits without qps',
    plugin('EventRateLimit', { ...eventKind, limits: [{ type: 'User', burst: 1 }] }),
    /configuration\.limits\[0\]\.qps: must be positive/,
  ],
  [
    'limits of an unknown type',
    plugin('EventRateLimit', { ...eventKind, limits: [{ type: 'Pod' }] }),
    /limits\[0\]\.type: must be one of Server/,
  ],
  ['no limits', plugin('EventRateLimit', eventKind), /limits: must not be empty/],
  [
    'a node selector without labels',
    plugin('PodNodeSelector', { podNodeSelectorPluginConfig: { a: 'b' } }),
    /podNodeSelectorPluginConfig\.a: invalid selector: b/,
  ],
  [
    'allowTTL over the maximum',
    plugin('ImagePolicyWebhook', { imagePolicy: { kubeConfigFile: 'k', allowTTL: 1801 } }),
    /allowTTL: must be between 1 and 1800/,
  ],
]

for (const [name, text, expected] of invalidConfigs) {
  test(`rejected: ${name}`, () => {
    assert.throws(
      () => read(text),
      (error) => error instanceof Error && error.message.includes(file) && expected.test(error.message),
    )
  })
}

test('a plugin that requires a configuration is rejected without one', () => {
  assert.throws(() => read(head, '--enable-admission-plugins=EventRateLimit'), /EventRateLimit needs a configuration/)
})
