// Replays the recorded exchanges of the reference against this server, by the tool that comes with them, and tells which ones match.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repoRoot } from '../kit/paths.js'

export const identities = ['cluster', 'kubernetes'] as const
export type IdentityName = (typeof identities)[number]

/** Where the recordings are: beside the repository, or where CONFORMANCE_ROOT says; undefined when there are none. */
export function findRecordings(): string | undefined {
  const root = process.env['CONFORMANCE_ROOT'] ?? join(repoRoot, '..', 'shared', 'conformance')
  return existsSync(join(root, 'check.sh')) ? root : undefined
}

export interface ReplayRequest {
  readonly root: string
  readonly identity: IdentityName
  /** Left out: all. */
  readonly profiles?: readonly string[]
  /** A regular expression for names of files; left out: all. */
  readonly filter?: string
  /** An executable that starts the server; left out: the one of this repository. */
  readonly server?: string
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
  const { root, identity, profiles = readdirSync(join(root, 'golden')), filter = '' } = request
  const reports = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const output = await runTool(request, { argv: ['--identity', identity, '--filter', filter, ...profiles], reports })
    const matched = new Set<string>()
    const compared = new Set<string>()
    const differences = new Map<string, unknown>()
    for (const profile of profiles) {
      const path = join(reports, `${profile}.json`)
      if (!existsSync(path)) throw new Error(`there is no report of profile ${profile}:\n${output.slice(-2000)}`)
      for (const { scenario, mismatches } of JSON.parse(readFileSync(path, 'utf8')) as readonly ScenarioReport[]) {
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
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}

const recordedIds = (root: string, file: string): readonly string[] =>
  (JSON.parse(readFileSync(join(root, 'golden', `${file}.json`), 'utf8')) as readonly { readonly id: string }[]).map(({ id }) => id)

function runTool(
  { root, server }: ReplayRequest,
  { argv, reports }: { readonly argv: readonly string[]; readonly reports: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'check.sh'), argv, {
      cwd: repoRoot,
      env: {
        ...process.env,
        CONFORMANCE_ROOT: root,
        REPORT_DIR: reports,
        NODE_TEST_CONTEXT: undefined,
        ...(server === undefined ? {} : { SERVER: server }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', reject)
    // It ends with 1 when anything differs, which is for the baseline to judge.
    child.on('close', () => resolve(output))
  })
}
