/* The JSON of the commands, as far as the page reads it. docs/commands has the pages of the commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

export type Bytes = number;
export type ByCategory = Record<string, Bytes>;

export interface TraceFile {
  id: number;
  name: string;
  path: string;
  bytes: number | null;
  modified_ns?: number | null;
  listed?: boolean; // a recent one, which was not opened
}

/* A trace as a file: cheap to ask for. */
export interface FileState {
  bytes: number;
  modified_ns: number;
  inode: number;
  recording: boolean;
}

/* Problems of a trace; every report has them. */
export interface Health {
  lost: number;
  cut_short: boolean;
  being_written: boolean;
  ignored_bytes: number;
  damaged_blocks: number;
  names_folded: number;
  window?: { begin_ns: number; kept_ns: number }; // of a recording that kept only its last part
  imported_from?: string;
  unknown?: string[];
  inferred?: string[];
}

export interface Report {
  command: string | null; // null: an imported trace does not know
  host: string | null;
  start_wall_ns: number; // 0: not known
  health: Health;
}

export interface Band {
  name: string | null;
  rest: boolean;
  peak_bytes: Bytes;
}

export interface SampleCurve {
  device: string;
  is_rss: boolean;
  times_ns: number[];
  used_bytes: (Bytes | null)[];
}

export interface ReservedCurve {
  device: string;
  times_ns: number[];
  reserved_bytes: Bytes[];
}

export interface Mark {
  kind: 'step' | 'epoch' | 'phase' | 'marker' | 'oom';
  time_ns: number;
  number?: number;
  name?: string | null;
  bytes?: Bytes;
}

export interface Plot {
  device: string | null;
  by: string;
  depth?: number | null; // of modules
  has_times: boolean;
  end_ns: number;
  from_ns: number;
  to_ns: number;
  peak_bytes: Bytes;
  peak_time_ns: number;
  bands: Band[];
  times_ns: number[];
  bytes: Bytes[][];
  samples: SampleCurve[];
  reserved?: ReservedCurve[]; // of devices with segments
  marks: Mark[];
  marks_left_out: number;
  pauses?: { from_ns: number; to_ns: number }[]; // of the recording
  traces?: { file: string; start_ns: number; end_ns: number }[]; // by rank: in the order of the question
}

export interface Instant extends Report {
  instant: string;
  at_ns: number;
  device: string | null;
  bytes: Bytes;
  blocks: number;
}

export interface TreeRow {
  depth: number;
  module: string | null;
  name: string | null;
  class: string | null;
  modules: number;
  hidden_modules: number;
  bytes: Bytes;
  percent: number;
  blocks: number;
  own_bytes: Bytes;
  by_category: ByCategory;
  own_by_category: ByCategory;
}

export interface Tree extends Instant {
  from_scopes: boolean;
  by_category: ByCategory;
  rows: TreeRow[];
}

export interface Group {
  bytes: Bytes;
  percent: number;
  blocks: number;
  [key: string]: string | number | null;
}

export interface Table extends Instant {
  by: string[];
  groups: Group[];
  rest: { groups: number; bytes: Bytes; percent: number; blocks: number };
}

/* Blocks of a picture, as blocks --width prints them. */
export interface Tile extends Report {
  from_ns: number;
  to_ns: number;
  blocks: number;
  bytes: number;
  categories: string[];
  names: string[];
  // one array for each fact; label, module, line, function and device are numbers into `names`
  list: {
    address: number[];
    bytes: number[];
    begin_ns: number[];
    end_ns: number[];
    freed: number[];
    pid: number[];
    category: number[];
    device: number[];
    label: number[];
    module: number[];
    line: number[];
    function: number[];
  };
  rest: { blocks: number; bytes: number; mean_bytes: number[] };
}

/* A row of tree --by callees or callers. */
export interface CallRow {
  depth: number; // from 1
  function: string | null; // null: small ones, folded
  file: string | null;
  line: number | null;
  library: string | null;
  functions: number;
  figure: number; // bytes, or calls
  own: number;
}

export interface CallSums {
  peak_bytes: Bytes;
  peak_blocks: number;
  leaked_bytes: Bytes;
  allocated_bytes: Bytes;
  calls: number;
  temporary_bytes: Bytes;
}

export interface Calls extends Instant {
  total: CallSums;
  rows: CallRow[];
}

export interface FunctionGroup extends CallSums {
  percent: number;
  function: string | null;
  file: string | null;
}

export interface FunctionTable extends Instant {
  groups: FunctionGroup[];
}

export interface LedgerEntry {
  name: string;
  bytes: Bytes;
  entries: LedgerEntry[];
}

export interface LedgerDevice {
  device: string;
  name: string | null;
  at_ns: number;
  used_bytes: Bytes | null; // null: no sample was taken
  total_bytes: Bytes | null;
  entries: LedgerEntry[];
  explained_bytes: Bytes;
  unexplained_bytes: Bytes | null;
}

export interface Ledger extends Report {
  devices: LedgerDevice[];
}

export interface Step {
  step: number;
  begin_ns: number;
  end_ns: number;
  paused_ns?: number; // of this time the recording was paused
  peak_bytes: Bytes;
  peak_time_ns: number;
  end_bytes: Bytes;
  allocations: number;
  by_device: { device: string; peak_bytes: Bytes }[];
  by_category: { category: string; at_peak_bytes: Bytes }[];
}

export interface Steps extends Report {
  steps: Step[];
  after_steps: Omit<Step, 'step'> | null;
}

export interface Frame {
  function: string | null;
  file?: string | null;
  line?: number | null;
  library?: string;
  offset?: number;
}

export interface EventRow {
  time_ns: number;
  kind: string;
  pid?: number;
  tid?: number;
  device?: string | null;
  sampled_device?: string;
  used_bytes?: number;
  process_bytes?: number;
  of_pid?: number;
  address?: string;
  bytes?: Bytes;
  label?: string | null;
  name?: string | null;
  scope?: string | null;
  stack?: Frame[];
}

export interface Events {
  events: EventRow[];
  health: Health;
}

export interface Leak {
  sign: string;
  bytes_per_step: number;
  blocks_per_step: number;
  grew_in_steps: number;
  live_bytes: Bytes;
  grown_blocks: number;
  never_freed_bytes?: Bytes; // of the growth, in slices
  example?: { stack?: Frame[]; asker?: number };
  [key: string]: unknown;
}

/* How a run was cut into steps or slices, and what grew in them. */
export interface Growth {
  by_slices_of: string;
  steps: number;
  warm_up: number;
  measured: number;
  first_step: number;
  last_step: number;
  from_bytes: Bytes;
  to_bytes: Bytes;
  bytes_per_step: number;
  slices?: number; // of a run without steps
  other_processes: number; // that mark steps, and are not shown
  leaks: Leak[];
}

export interface Leaks extends Report, Growth {
  by: string[]; // also of those after the last step
  after_steps: Growth | null;
  never_freed?: { bytes: Bytes; blocks: number; groups: number; growing_bytes: Bytes; largest: Group[] };
}

/* The sorts of reach are there if the process was searched as it ended. */
export interface LeftBlocks {
  bytes: Bytes;
  blocks: number;
  definitely_lost?: { bytes: Bytes; blocks: number };
  indirectly_lost?: { bytes: Bytes; blocks: number };
  reachable?: { bytes: Bytes; blocks: number };
  unknown?: { bytes: Bytes; blocks: number };
}

export interface LeftGroup extends LeftBlocks {
  stack: Frame[] | null;
  asker?: number; // those before are frames of an allocator
}

/* `leaks --never-freed` */
export interface NeverFreed extends Report {
  never_freed: LeftBlocks & { groups: number };
  groups: LeftGroup[];
  searched?: { pid: number; outcome: string }[];
}

export interface OomChange {
  change: string;
  bytes: Bytes;
  enough: boolean | null;
  module?: string | null;
  fraction?: number | null;
  of?: string | null;
  of_bytes?: Bytes | null;
  [key: string]: unknown;
}

export interface OomVerdict {
  number: number | null; /* null: the process was killed */
  killed: boolean;
  group_limit_bytes: Bytes | null;
  at_ns: number;
  device: string;
  space: string;
  pid: number | null;
  asked_bytes: Bytes;
  module: string | null;
  class: string | null;
  scope: string | null;
  phase: string | null;
  category: string | null;
  line: string | null;
  verdict: string;
  rule: string;
  address_limit_bytes: Bytes | null;
  address_used_bytes: Bytes | null;
  recovered: boolean;
  short_bytes: Bytes | null;
  live_bytes: Bytes;
  free_bytes: Bytes | null;
  free_age_ns: number | null;
  total_bytes: Bytes | null;
  segments: {
    segments: number;
    bytes: Bytes;
    holes: number;
    hole_bytes: Bytes;
    largest_hole_bytes: Bytes;
    largest_request_bytes: Bytes;
  } | null;
  holders: (Group & { line: string | null })[];
  changes: OomChange[];
}

export interface Oom extends Report {
  refused: number;
  recovered: number;
  verdicts: OomVerdict[];
}

export interface ComparedRun {
  name: string;
  peak_bytes: Bytes;
  peak_bytes_difference: Bytes;
  peak_bytes_percent: number | null;
  never_freed_bytes: Bytes;
  allocations: number;
  duration_ns: number;
}

export interface ComparedValue {
  name: string;
  status: string;
  bytes: Bytes | null;
  bytes_difference: Bytes | null;
  bytes_percent: number | null;
}

export interface Compare {
  runs: ComparedRun[];
  view: {
    each: string;
    by?: string[];
    entries: ({ runs: ComparedValue[] } & Record<string, unknown>)[];
    rest: { entries: number; runs: ComparedValue[] } | null;
  };
}

/* compare of several instants of one run; the instants are the `runs` of its entries. */
export interface ComparedInstants {
  health: Health;
  instants: { name: string; instant: string; number?: number; time_ns: number; bytes: Bytes; blocks: number }[];
  view: Compare['view'];
}

export interface Summary extends Report {
  duration_ns: number;
  events: number;
  file_bytes: number;
  allocations: number;
  frees: number;
  allocated_bytes: Bytes;
  peak_bytes: Bytes;
  peak_time_ns: number;
  never_freed_bytes: Bytes;
  never_freed_blocks: number;
  named_percent_at_peak: number | null;
  out_of_memory: number;
  by_device: { device: string; peak_bytes: Bytes; peak_time_ns: number; never_freed_bytes: Bytes; allocations: number; frees: number }[];
  by_category: { category: string; at_peak_bytes: Bytes; at_peak_percent: number; at_peak_blocks: number; peak_bytes: Bytes; never_freed_bytes: Bytes }[];
  samples: { events: number; devices: SampledDevice[] } | null;
  processes: {
    pid: number;
    command: string;
    role?: string | null; // "rank 3"; absent: none
    threads: number;
    start_ns: number;
    end_ns: number | null;
    ended: string | null;
    exit_code: number | null;
    signal: number | string | null;
    allocations: number;
    allocated_bytes: Bytes;
    peak_bytes: Bytes;
    peak_time_ns: number;
    never_freed_bytes: Bytes;
  }[];
}

export interface Stats {
  thread_count: number;
  threads: {
    pid: number;
    tid: number;
    name: string;
    events: number;
    allocations: number;
    allocated_bytes: Bytes;
    frees: number;
    temporary_allocations: number;
  }[];
}

export interface SampledDevice {
  device: string;
  name: string | null;
  peak_used_bytes: Bytes | null;
  peak_time_ns: number;
  total_bytes: Bytes | null;
}

export interface Rank {
  rank: number;
  file: string;
  pid: number;
  host: string;
  place: string;
  device: string;
  peak_bytes: number;
  above_bytes: number;
  growth_bytes: number;
  headroom_bytes?: number;
  steps: number;
  ended: string;
  ooms: number;
  step_peaks: number[];
}

export interface Ranks {
  job: string;
  world_size: number;
  present: number;
  hosts: number;
  steps: number;
  steps_per_column: number;
  peak_sum_bytes: number;
  peak_most_bytes: number;
  peak_least_bytes: number;
  imbalance_percent: number;
  findings: { text: string; worst_rank: number }[];
  ranks: Rank[];
}
