// Replays audit.json: policies, requests, and the audit events that kube-apiserver wrote.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startServer } from 'cluster-apiserver'
import { runInProcess } from '../kit/run-command.js'
import { ServerProcess } from '../kit/server-process.js'
import { type AuditCase, type AuditedEvent, compareEvents } from './audit-events.js'
import { AuditSender, auditUsers, setupAgent } from './audit-requests.js'
import type { ReplayedTable } from './tables.js'
import { writeTokens } from './token-users.js'

export async function replayAudit(text: string): Promise<ReplayedTable> {
  const cases = JSON.parse(text) as readonly AuditCase[]
  const differences = new Map<string, string>()
  for (const group of groupsOf(cases)) {
    const [first] = group
    if (first?.startError !== undefined) {
      for (const each of group) {
        const difference = await differenceOfStart(each)
        if (difference !== undefined) differences.set(each.name, difference)
      }
    } else for (const [name, difference] of await replayGroup(group)) differences.set(name, difference)
  }
  return { compared: cases.map(({ name }) => name), differences }
}

/** Groups of cases that share a server: those with the same policy and flags. */
function groupsOf(cases: readonly AuditCase[]): readonly (readonly AuditCase[])[] {
  const groups = new Map<string, AuditCase[]>()
  for (const each of cases) {
    const key = JSON.stringify([each.policy, each.flags])
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [...groups.values()]
}

function writePolicy(folder: string, policy: unknown): string {
  const path = join(folder, 'policy.json')
  writeFileSync(path, JSON.stringify(policy))
  return path
}

async function differenceOfStart({ policy, startError = '' }: AuditCase): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'))
  try {
    const path = writePolicy(folder, policy)
    const flags = ['--identity=kubernetes', `--audit-policy-file=${path}`]
    if (startError === null) {
      const server = await ServerProcess.start({ flags: [...flags, `--audit-log-path=${join(folder, 'audit.log')}`] })
      await server.stop()
      return server.stderr.includes('unknown field') ? undefined : `the error does not name the field: ${server.stderr.slice(0, 500)}`
    }
    const { code, stderr } = await runInProcess([
      ...flags,
      '--secure-port=0',
      `--data-dir=${folder}`,
      `--audit-log-path=${join(folder, 'audit.log')}`,
    ])
    const expected = startError.replaceAll('<policy-file>', path).replace(/ in scheme "[^"]*"/, '')
    return code !== 0 && stderr.includes(expected) ? undefined : `expected ${expected}, got ${code} ${stderr.slice(0, 500)}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function replayGroup(group: readonly AuditCase[]): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'))
  const log = join(folder, 'audit.log')
  const failed = (thrown: unknown): ReadonlyMap<string, string> =>
    new Map(group.map(({ name }) => [name, thrown instanceof Error ? thrown.message.slice(0, 500) : String(thrown)]))
  try {
    const server = await startServer({
      identity: 'kubernetes',
      flags: [
        '--authorization-mode=Node,RBAC',
        // The controllers that run inside kube-apiserver: the recording had no controller manager.
        '--controllers=flow-schema-status,custom-resource-definitions,apiservice-registration,apiservice-status-available',
        // As in the recording: some pods are privileged.
        '--allow-privileged',
        `--audit-policy-file=${writePolicy(folder, group[0]?.policy)}`,
        `--audit-log-path=${log}`,
        ...writeTokens(folder, auditUsers),
        ...(group[0]?.flags ?? []),
      ],
    })
    try {
      const differences = new Map<string, string>()
      const sender = await AuditSender.open(server)
      try {
        for (const each of group) {
          const difference = await replayCase(each, sender, log)
          if (difference !== undefined) differences.set(each.name, difference)
        }
      } finally {
        await sender.close()
      }
      return differences
    } finally {
      await server.close()
    }
  } catch (thrown) {
    return failed(thrown)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Poll interval, and time for unexpected events to appear. */
const quietMs = 40
/** Time limit for the events of a case, also of one that differs. */
const timeoutMs = 3_000

async function replayCase(each: AuditCase, sender: AuditSender, log: string): Promise<string | undefined> {
  await sender.prepare(each)
  // The last line may not be written yet.
  const before = readFileSync(log, 'utf8').lastIndexOf('\n') + 1
  for (const request of each.requests ?? []) await sender.send(request)
  const expected = (each.events ?? []).length
  const events = (): readonly AuditedEvent[] =>
    readFileSync(log, 'utf8')
      .slice(before)
      .split('\n')
      // The last line is incomplete or empty.
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AuditedEvent)
      .filter(({ userAgent }) => userAgent !== setupAgent)
  for (const until = Date.now() + timeoutMs; events().length < expected && Date.now() < until; ) await setTimeout(quietMs)
  await setTimeout(quietMs)
  return compareEvents(each, events())
}
