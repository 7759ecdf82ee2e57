// Examples of docs/client.md: compiled in strict mode and run against a server as one program.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { transform } from 'esbuild'
import { repoRoot } from '../../../test/kit/paths.js'
import { ServerProcess } from '../../../test/kit/server-process.js'

const text = readFileSync(join(repoRoot, 'docs/client.md'), 'utf8')
const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)

interface Finished {
  readonly code: number
  readonly output: string
}

const run = (args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Finished> =>
  new Promise((resolve) =>
    execFile(process.execPath, args, { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
    ),
  )

test('the examples of docs/client.md compile and run', async () => {
  assert.ok(blocks.length >= 7)
  const folder = mkdtempSync(join(tmpdir(), 'client-docs-'))
  const server = await ServerProcess.start()
  try {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(repoRoot, join(folder, 'node_modules/cluster-apiserver'))
    const program = `${blocks.join('\n')}\nclient.close()\n`
    const compilerOptions = {
      target: 'ES2022',
      module: 'NodeNext',
      strict: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(repoRoot, 'node_modules/@types')],
    }
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
    writeFileSync(join(folder, 'main.ts'), program)
    const compiled = await run([join(repoRoot, 'node_modules/typescript/bin/tsc'), '-p', folder])
    assert.deepEqual(compiled, { code: 0, output: '' })
    const { code } = await transform(program, { loader: 'ts', format: 'esm' })
    writeFileSync(join(folder, 'main.mjs'), code)
    const { output, code: exit } = await run([join(folder, 'main.mjs')], {
      ...process.env,
      KUBECONFIG: join(server.dataDir, 'admin.conf'),
      CLUSTERCONFIG: '',
    })
    assert.equal(exit, 0, output)
    assert.match(output, /^3\n/)
    for (const expected of ['ADDED fresh', 'NotFound 404', 'status', 'deployments Deployment v1.26'])
      assert.ok(output.includes(expected), `${expected}\n${output}`)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
