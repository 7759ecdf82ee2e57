// Admission: what plugins cost where nobody configured them, what webhooks cost that are not meant, and one that is, beside a bare POST.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { issueCertificate } from '../../src/net/issue-certificate.js'
import { requestBytes } from '../connection.js'
import type { HookProcessStart } from '../hook-process.js'
import { fetchOnce, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const unmatchedBar = 1.05
const matchedBar = 1.5
const mapBar = 1.05
const podBar = 1.3
const connections = 8
const unmatched = 100
/** Those that look at every write or every pod, and came after the first version. */
const newPlugins =
  'LimitRanger,PodSecurity,RuntimeClass,CertificateSubjectRestriction,DefaultIngressClass,PersistentVolumeClaimResize,MutatingAdmissionWebhook,ValidatingAdmissionPolicy,ValidatingAdmissionWebhook,ResourceQuota'

export async function measureHooks(lab: Lab): Promise<readonly Line[]> {
  const plain = (await lab.start()).served
  const few = (await lab.start([`--disable-admission-plugins=${newPlugins}`])).served
  const crowded = (await lab.start()).served
  const hooked = (await lab.start()).served
  const paths = new Map<Served, string>()
  for (const served of [plain, few, crowded, hooked]) paths.set(served, await makeNamespace(served, 'bench-hooks'))
  let serial = 0
  const mapsOf = async (served: Served, query = ''): Promise<Side> => {
    const prefix = `c${serial++}`
    const generator = await lab.generator(served, connections)
    const path = `${paths.get(served)}${query}`
    const next = (_: number, counter: number): Buffer =>
      requestBytes(served, { method: 'POST', path, body: configMapText({ name: `${prefix}-${counter}`, bytes: 1024 }) })
    return { run: (durationMs) => generator.run({ durationMs, expect: 201, next }) }
  }
  const podsOf = async (served: Served): Promise<Side> => {
    const generator = await lab.generator(served, connections)
    const path = (paths.get(served) ?? '').replace('configmaps', 'pods')
    const next = (_: number, counter: number): Buffer =>
      requestBytes(served, { method: 'POST', path, body: JSON.stringify(pod(`p-${counter}`)) })
    return { run: (durationMs) => generator.run({ durationMs, expect: 201, next }) }
  }
  await configure(
    crowded,
    Array.from({ length: unmatched }, (_, i) => ({ name: `c${i}`, url: 'https://127.0.0.1:1/', resource: `things${i}` })),
  )
  const hook = await startHook(lab)
  await configure(hooked, [{ name: 'one', url: `https://127.0.0.1:${hook.port}/validate`, resource: 'configmaps', ca: hook.ca }])
  const lines = [
    await lineOf(lab, 'create, config map, all plugins / those of the first version', mapBar, [await mapsOf(few), await mapsOf(plain)]),
    await lineOf(lab, 'create, pod, all plugins / those of the first version', podBar, [await podsOf(few), await podsOf(plain)]),
    await lineOf(lab, `create, ${unmatched} configurations of webhooks that do not match / none`, unmatchedBar, [
      await mapsOf(plain),
      await mapsOf(crowded),
    ]),
  ]
  // Opened when it is its turn: servers close connections that nobody uses.
  const dry = '?dryRun=All'
  const [withHook, withoutHook] = [await mapsOf(hooked, dry), await mapsOf(plain, dry)]
  await withHook.run(100)
  const sides = [await barePost(lab, hook), difference(withHook, withoutHook)] as const
  return [...lines, await lineOf(lab, 'what a webhook adds to a create / a bare POST of its review', matchedBar, sides)]
}

const pod = (name: string) => ({
  metadata: { name },
  spec: { serviceAccountName: 'default', containers: [{ name: 'main', image: 'registry.example/main:1' }] },
})

async function lineOf(lab: Lab, workload: string, bar: number, [floorSide, side]: readonly [Side, Side]): Promise<Line> {
  const { floor, server, ratio, perSecond } = await compare(floorSide, side, lab.rounds)
  return { workload, floor: microseconds(floor), server: microseconds(server), ratio, bar, note: `${perSecond.toFixed(0)}/s` }
}

/** What one costs more than the other. */
const difference = (more: Side, less: Side): Side => ({
  run: async (durationMs) => {
    const base = await less.run(durationMs)
    const whole = await more.run(durationMs)
    return { ...whole, cpuMicrosecondsEach: whole.cpuMicrosecondsEach - base.cpuMicrosecondsEach }
  },
})

interface Configured {
  readonly name: string
  readonly url: string
  readonly resource: string
  readonly ca?: string
}

async function configure(served: Served, configurations: readonly Configured[]): Promise<void> {
  for (const { name, url, resource, ca } of configurations) {
    const webhook = {
      name: `${name}.example.com`,
      clientConfig: { url, ...(ca === undefined ? {} : { caBundle: Buffer.from(ca).toString('base64') }) },
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: [resource] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    }
    const path = '/apis/admissionregistration.cluster.io/v1/validatingwebhookconfigurations'
    const body = JSON.stringify({ metadata: { name }, webhooks: [webhook] })
    const { status } = await fetchOnce(served, { method: 'POST', path, body })
    if (status !== 201) throw new Error(`a configuration was answered with ${status}`)
  }
}

interface RunningHook {
  readonly child: ChildProcess
  readonly port: number
  readonly ca: string
  readonly cert: string
  readonly key: string
}

function launch(lab: Lab, start: HookProcessStart): ChildProcess {
  const child = fork(fileURLToPath(new URL('../hook-process.js', import.meta.url)), [JSON.stringify(start)])
  lab.closeLater(async () => child.disconnect())
  return child
}

async function startHook(lab: Lab): Promise<RunningHook> {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
  const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...times }), commonName: 'hooks' }
  const { cert, key } = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
  const child = launch(lab, { role: 'hook', cert, key })
  const [port] = (await once(child, 'message')) as [number]
  return { child, port, ca: authority.cert, cert, key }
}

/** What a bare server spends on a POST of the review that the hook was sent last: what it costs with it, less what it costs without. */
async function barePost(lab: Lab, { child: hook, port, ca, cert, key }: RunningHook): Promise<Side> {
  hook.send('')
  const [review] = (await once(hook, 'message')) as [string]
  const child = launch(lab, { role: 'server', cert, key, url: `https://127.0.0.1:${port}/validate`, ca, review })
  const [ownPort] = (await once(child, 'message')) as [number]
  const served: Served = { pid: child.pid ?? 0, port: ownPort, ca, token: '' }
  const sideOf = async (path: string): Promise<Side> => {
    const generator = await lab.generator(served, connections)
    const request = requestBytes(served, { method: 'POST', path, body: configMapText({ name: 'c', bytes: 1024 }) })
    return { run: (durationMs) => generator.run({ durationMs, expect: 201, next: () => request }) }
  }
  return difference(await sideOf('/hook'), await sideOf('/plain'))
}
