// Runs the guides: writes the files of their code blocks, runs their `sh` blocks in order, and expects the output of their `text` blocks.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from './clients/obtain.js'
import { commandPath, repoRoot } from './kit/paths.js'

interface Block {
  readonly language: string
  readonly text: string
}

const blocksOf = (document: string): readonly Block[] =>
  [...readFileSync(join(repoRoot, document), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))

/** Path in the first line of a code block: `# file: PATH`. */
const fileOf = (text: string): string | undefined => /^(?:#|\/\/) file: (\S+)\n/.exec(text)?.[1]

for (const document of [
  'docs/testing-controllers.md',
  'docs/move-from-envtest.md',
  'docs/product-api.md',
  'docs/policies.md',
  'docs/testkit/history.md',
  'docs/testkit/test-webhooks.md',
  'docs/testkit/import.md',
  'docs/testkit/whole-cluster.md',
]) {
  test(document, { timeout: 300_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'guide-'))
    mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
    symlinkSync(repoRoot, join(folder, 'node_modules', 'cluster-apiserver'))
    symlinkSync(commandPath, join(folder, 'node_modules', '.bin', 'cluster-apiserver'))
    symlinkSync(join(repoRoot, 'node_modules', 'typescript', 'bin', 'tsc'), join(folder, 'node_modules', '.bin', 'tsc'))
    const blocks = blocksOf(document)
    for (const { text } of blocks) {
      const file = fileOf(text)
      if (file === undefined) continue
      mkdirSync(join(folder, dirname(file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
    assert.ok(commands.length > 0)
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const env = { ...environment, PATH: `${join(repoRoot, 'bin')}:${process.env['PATH']}`, HOME: folder }
    const script = `set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\nexec 2>&1\nset -x\n${commands.join('\n')}`
    try {
      const { code, stdout, stderr } = await runToEnd('bash', ['-c', script], { cwd: folder, env, timeoutMs: 200_000 })
      assert.equal(code, 0, `${stdout}${stderr}`)
      for (const { text } of blocks.filter(({ language }) => language === 'text'))
        assert.ok(stdout.includes(text.trim()), `${text}is not in\n${stdout}`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
}
