// Runs the programs of test/clients/python, which use Debian's python3-kubernetes, against the server.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { repoRoot } from '../kit/paths.js'
import { ServerProcess } from '../kit/server-process.js'
import { runToEnd } from './obtain.js'
import { obtainPython } from './obtain-python.js'

interface Case {
  readonly name: string
  readonly failure: string | null
  readonly ms: number
}

const programs = [
  { title: 'typed client', file: 'typed_client.py', minCases: 15 },
  { title: 'dynamic client', file: 'dynamic_client.py', minCases: 7 },
  { title: 'ServiceAccounts of controllers, and tokens of pods', file: 'accounts_client.py', minCases: 3 },
]

const client = await obtainPython()

describe('python3-kubernetes', { skip: client.skip, concurrency: 2 }, () => {
  let server: ServerProcess
  before(async () => {
    server = await ServerProcess.start({ flags: ['--identity=kubernetes', '--enable-admission-plugins=NodeRestriction'] })
  })
  after(() => server.stop())

  for (const { title, file, minCases } of programs) {
    test(title, async (context) => {
      const script = join(repoRoot, 'test', 'clients', 'python', file)
      const { code, stdout, stderr } = await runToEnd(client.path, ['-B', script, join(server.dataDir, 'admin.conf')], {
        timeoutMs: 60_000,
      })
      const cases = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Case)
      for (const { name, failure, ms } of cases) {
        await context.test(`${name}, which took ${ms} ms`, () => {
          if (failure !== null) assert.fail(failure)
        })
      }
      assert.equal(code, 0, stderr)
      assert.ok(cases.length >= minCases, `only ${cases.length} of ${minCases} cases were run\n${stderr}`)
    })
  }
})
