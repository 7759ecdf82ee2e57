// FlowSchemas and PriorityLevelConfigurations, reduced to the fields that flow control reads.

export interface FlowSubject {
  readonly kind?: string | undefined
  readonly user?: { readonly name?: string | undefined } | undefined
  readonly group?: { readonly name?: string | undefined } | undefined
  readonly serviceAccount?: { readonly namespace?: string | undefined; readonly name?: string | undefined } | undefined
}

export interface FlowRule {
  readonly subjects?: readonly FlowSubject[] | undefined
  readonly resourceRules?:
    | readonly {
        readonly verbs?: readonly string[] | undefined
        readonly apiGroups?: readonly string[] | undefined
        readonly resources?: readonly string[] | undefined
        readonly clusterScope?: boolean | undefined
        readonly namespaces?: readonly string[] | undefined
      }[]
    | undefined
  readonly nonResourceRules?:
    | readonly { readonly verbs?: readonly string[] | undefined; readonly nonResourceURLs?: readonly string[] | undefined }[]
    | undefined
}

export interface FlowSchemaConfig {
  readonly name: string
  readonly uid: string
  readonly level: string
  readonly precedence: number
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined
  readonly rules: readonly FlowRule[]
}

export interface PriorityLevelConfig {
  readonly name: string
  readonly uid: string
  /** Undefined for the type Exempt. */
  readonly limited: LimitedLevel | undefined
}

export interface LimitedLevel {
  readonly shares: number
  readonly lendablePercent: number
  /** Undefined: no limit. */
  readonly borrowingLimitPercent: number | undefined
  /** Undefined: requests are refused instead of queued. */
  readonly queuing: Queuing | undefined
}

interface Queuing {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}
