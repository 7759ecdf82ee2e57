// Replays the recorded exchanges of the reference against this server, by the tool that comes with them, and tells which ones match.
//
// The servers are started here and not by the script beside the tool: they choose their own ports, and the keys of the profiles are made once.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repoRoot } from '../kit/paths.js'
import { ServerProcess } from '../kit/server-process.js'
import { obtainKeys, prepareProfile } from './profile.js'

export const identities = ['cluster', 'kubernetes'] as const
export type IdentityName = (typeof identities)[number]

/** Where the recordings are: beside the repository, or where CONFORMANCE_ROOT says; undefined when there are none. */
export function findRecordings(): string | undefined {
  const root = process.env['CONFORMANCE_ROOT'] ?? join(repoRoot, '..', 'shared', 'conformance')
  return existsSync(join(root, 'run.mjs')) ? root : undefined
}

export interface ReplayRequest {
  readonly root: string
  readonly identity: IdentityName
  /** Left out: all. */
  readonly profiles?: readonly string[]
  /** A regular expression for names of files; left out: all. */
  readonly filter?: string
  /** For each server beside those of its profile. */
  readonly moreFlags?: () => readonly string[]
}

export interface Replay {
  /** `profile/file/id`. */
  readonly matched: ReadonlySet<string>
  readonly compared: ReadonlySet<string>
  /** What differed, by `profile/file/id`, for whoever looks into it. */
  readonly differences: ReadonlyMap<string, unknown>
}

interface ScenarioReport {
  readonly scenario: string
  readonly mismatches: readonly { readonly id: string; readonly diffs: unknown }[]
}

export async function replay(request: ReplayRequest): Promise<Replay> {
  const { root, profiles = readdirSync(join(root, 'golden')) } = request
  const matched = new Set<string>()
  const compared = new Set<string>()
  const differences = new Map<string, unknown>()
  for (const profile of profiles) {
    for (const { scenario, mismatches } of await replayProfile(request, profile)) {
      const file = `${profile}/${scenario.replace(/\.mjs$/, '')}`
      const bad = new Map(mismatches.map(({ id, diffs }) => [id, diffs]))
      for (const id of recordedIds(root, file)) {
        compared.add(`${file}/${id}`)
        if (bad.has(id)) differences.set(`${file}/${id}`, bad.get(id))
        else matched.add(`${file}/${id}`)
      }
    }
  }
  return { matched, compared, differences }
}

const recordedIds = (root: string, file: string): readonly string[] =>
  (JSON.parse(readFileSync(join(root, 'golden', `${file}.json`), 'utf8')) as readonly { readonly id: string }[]).map(({ id }) => id)

async function replayProfile(request: ReplayRequest, profile: string): Promise<readonly ScenarioReport[]> {
  const { root, identity, moreFlags = () => [] } = request
  const keys = obtainKeys(root)
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const flags = prepareProfile({ root, profile, identity, keys, folder: join(folder, 'profile') })
    const server = await ServerProcess.start({
      dataDir: join(folder, 'data'),
      flags: [`--identity=${identity}`, '--bind-address=127.0.0.1', ...flags, ...moreFlags()],
    })
    try {
      const path = join(folder, 'report.json')
      const output = await runTool(request, { profile, keys, url: server.url, report: path })
      if (!existsSync(path)) throw new Error(`there is no report of profile ${profile}:\n${output.slice(-2000)}`)
      return JSON.parse(readFileSync(path, 'utf8')) as readonly ScenarioReport[]
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface ToolRun {
  readonly profile: string
  readonly keys: string
  readonly url: string
  readonly report: string
}

function runTool({ root, identity, filter = '' }: ReplayRequest, { profile, keys, url, report }: ToolRun): Promise<string> {
  const argv = ['--server', url, '--identity', identity, '--profile', profile, '--root', root, '--filter', filter, '--report', report]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'run.mjs'), ...argv], {
      env: { ...process.env, PKI: keys, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const kill = (): boolean => child.kill('SIGKILL')
    process.once('exit', kill)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', reject)
    // It ends with 1 when anything differs, which is for the baseline to judge.
    child.on('close', () => {
      process.off('exit', kill)
      resolve(output)
    })
  })
}
