// Audit log at level Metadata, compared with a server without an audit log.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestBytes } from '../connection.js'
import { fill, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const bar = 1.2

export async function measureAudit(lab: Lab): Promise<readonly Line[]> {
  const policy = join(lab.folder, 'audit-policy.json')
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.cluster.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }))
  const log = join(lab.folder, 'audit.log')
  const { served: unaudited } = await lab.start([])
  const { served: audited } = await lab.start([`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxbackup=1'])
  const paths = new Map<Served, string>()
  for (const served of [unaudited, audited]) {
    const path = await makeNamespace(served, 'bench-audit')
    await fill(served, { path, count: 1, body: () => configMapText({ name: 'object', bytes: 1024 }) })
    paths.set(served, path)
  }
  const pathOf = (served: Served): string => paths.get(served) ?? ''
  const lineOf = async (workload: string, expect: number, next: (served: Served, counter: number) => Buffer): Promise<Line> => {
    const sideOf = async (served: Served): Promise<Side> => {
      const generator = await lab.generator(served, 8)
      return { run: (durationMs) => generator.run({ durationMs, expect, next: (_, counter) => next(served, counter) }) }
    }
    const { floor, server, ratio, perSecond } = await compare(await sideOf(unaudited), await sideOf(audited), lab.rounds)
    return { workload, floor: microseconds(floor), server: microseconds(server), ratio, bar, note: `${perSecond.toFixed(0)}/s` }
  }
  return [
    await lineOf('get, 1 KB, audited at Metadata / not', 200, (served) =>
      requestBytes(served, { method: 'GET', path: `${pathOf(served)}/object` }),
    ),
    await lineOf('create, 1 KB, audited at Metadata / not', 201, (served, counter) =>
      requestBytes(served, { method: 'POST', path: pathOf(served), body: configMapText({ name: `c-${counter}`, bytes: 1024 }) }),
    ),
  ]
}
