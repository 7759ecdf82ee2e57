// Policies: what the ValidatingAdmissionPolicies of the server, and a typed one, say about an object, and what each expression costs.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { examplesOf } from '../create/examples.js'
import type { Session } from '../session/session.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { TextField } from '../ui/text-field.js'
import { currentDraft, type Draft, keepDraft } from './draft.js'
import { TrialResults } from './trial-results.js'
import type { TryResult } from './try-object.js'

const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE']

interface Outcome {
  readonly result?: TryResult
  readonly error?: unknown
}

export function PoliciesPage() {
  const session = useSession()
  const [draft, setDraft] = useState(() => currentDraft(session))
  const [user, setUser] = useState(session.user)
  const [groups, setGroups] = useState('system:authenticated')
  const [outcome, setOutcome] = useState<Outcome>()
  const [isRunning, setIsRunning] = useState(false)
  const running = useRef<AbortController>(undefined)
  const change = (changed: Partial<Draft>): void => {
    keepDraft(session, changed)
    setDraft(currentDraft(session))
  }
  const run = async (): Promise<void> => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setIsRunning(true)
    const next = await tryDraft(session, { draft, user, groups }, controller.signal)
    if (controller.signal.aborted) return
    setIsRunning(false)
    setOutcome(next)
  }
  useEffect(() => {
    if (draft.object !== '') void run()
    return () => running.current?.abort()
  }, [])
  return (
    <>
      <header class="page-head">
        <h1>Policies</h1>
      </header>
      <p class="hint">Tries an object against the admission policies of the server and those that you write here. Nothing is stored.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <div class="create-columns">
          <YamlField label="Object" value={draft.object} onInput={(object) => change({ object })} />
          <YamlField
            label="More policies, bindings and parameters (optional)"
            value={draft.policies}
            onInput={(policies) => change({ policies })}
          />
        </div>
        <div class="form">
          <OperationField value={draft.operation} onChange={(operation) => change({ operation })} />
          <TextField label="User" value={user} onInput={setUser} />
          <TextField label="Groups" value={groups} onInput={setGroups} />
          <div class="tools">
            <button type="submit" class="primary" disabled={isRunning}>
              Try
            </button>
            <button type="button" onClick={() => change(exampleDraft(session))}>
              Example
            </button>
          </div>
        </div>
      </form>
      <div role="status">
        {isRunning && <p class="hint">trying…</p>}
        {!isRunning && outcome?.error !== undefined && <ErrorPanel error={outcome.error} title="The object cannot be tried" />}
        {!isRunning && outcome?.result && <TrialResults result={outcome.result} />}
      </div>
    </>
  )
}

interface Attempt {
  readonly draft: Draft
  readonly user: string
  readonly groups: string
}

async function tryDraft(session: Session, { draft, user, groups }: Attempt, signal: AbortSignal): Promise<Outcome> {
  try {
    // CEL is a third of the console, and only this page needs it.
    const { tryObject } = await import('./try-object.js')
    const names = groups.split(/[\s,]+/).filter((each) => each !== '')
    return { result: await tryObject(session, draft, { name: user, groups: names }, signal) }
  } catch (error) {
    return { error }
  }
}

function exampleDraft({ resources }: Session): Draft {
  const policies = resources.find(({ kind }) => kind === 'ValidatingAdmissionPolicy')
  // Servers that do not serve policies serve webhook configurations, which are in the same group.
  const webhooks = resources.find(({ kind }) => kind === 'ValidatingWebhookConfiguration')
  const policyKind = policies ?? (webhooks && { ...webhooks, version: 'v1alpha1', kind: 'ValidatingAdmissionPolicy' })
  return {
    object: exampleText(resources.find(({ kind }) => kind === 'Deployment')),
    policies: exampleText(policyKind),
    operation: 'CREATE',
  }
}

function exampleText(resource: ServedResource | undefined): string {
  const object = resource && examplesOf(resource, 'default', undefined)[0]?.object
  return object === undefined ? '' : writeYaml(object as unknown as Json)
}

interface YamlFieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
}

function YamlField({ label, value, onInput }: YamlFieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="yaml-field"
        rows={12}
        spellcheck={false}
        wrap="off"
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </div>
  )
}

function OperationField({ value, onChange }: { readonly value: Operation; readonly onChange: (value: Operation) => void }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>Operation</label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => onChange(operations.find((each) => each === currentTarget.value) ?? 'CREATE')}
      >
        {operations.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </div>
  )
}
