// The YAML editor and the explanation of the field at its cursor, as a component.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { useEffect, useRef } from 'preact/hooks'
import type { KindSchema } from '../change/kind-schema.js'
import { SchemaPanel } from '../change/schema-panel.js'
import { type Problem, YamlEditor } from '../change/yaml-editor.js'
import { useSession } from '../session/session-context.js'

interface YamlBoxProps {
  readonly label: string
  readonly resource: ServedResource
  readonly schema: KindSchema | undefined
  readonly text: string
  readonly problems: readonly Problem[]
  readonly onText: (text: string) => void
}

export function YamlBox({ label, resource, schema, text, problems, onText }: YamlBoxProps) {
  const session = useSession()
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<YamlEditor>(undefined)
  const change = useRef(onText)
  change.current = onText
  useEffect(() => {
    const controller = new AbortController()
    const panel = new SchemaPanel({ session, resource, signal: controller.signal }, () => undefined)
    const created = new YamlEditor({
      label,
      onField: (path) => panel.show(path),
      onChange: () => change.current(created.text),
    })
    editor.current = created
    host.current?.append(created.root, panel.root)
    return () => controller.abort()
  }, [])
  useEffect(() => {
    const { current } = editor
    if (current === undefined) return
    current.schema = schema
    if (current.text !== text) current.text = text
    current.setProblems(problems)
  }, [schema, text, problems])
  return <div class="yaml-box" ref={host} />
}
