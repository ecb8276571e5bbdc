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
  marks: Mark[];
  marks_left_out: number;
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

export interface Leak {
  sign: string;
  bytes_per_step: number;
  blocks_per_step: number;
  grew_in_steps: number;
  live_bytes: Bytes;
  example?: { stack?: Frame[] };
  [key: string]: unknown;
}

export interface Leaks extends Report {
  by_slices_of: string;
  steps: number;
  warm_up: number;
  measured: number;
  first_step: number;
  last_step: number;
  from_bytes: Bytes;
  to_bytes: Bytes;
  bytes_per_step: number;
  by: string[];
  leaks: Leak[];
}

export interface OomChange {
  change: string;
  bytes: Bytes;
  enough: boolean | null;
  module?: string | null;
  fraction?: number | null;
  of_bytes?: Bytes | null;
  [key: string]: unknown;
}

export interface OomVerdict {
  number: number;
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
  recovered: boolean;
  short_bytes: Bytes | null;
  live_bytes: Bytes;
  free_bytes: Bytes | null;
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
  processes: {
    pid: number;
    command: string;
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
