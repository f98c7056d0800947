/* What cluster_parallel.db says: communication beside computation of one rank or of one iteration, and what could be
 * better of the whole job.
 *
 * There is one table, of the kind of parallelism. Names of columns are those of the reference tool. */
#include <math.h>
#include <stdlib.h>

#include "cluster/parts.h"

#define FILE_NAME      "cluster_parallel.db"
#define STRATEGY_TABLE "ClusterParallelStrategy"

#define HEADERS 5 /* at most */

static const struct kind {
    const char *table, *shown;
    const char *columns; /* of the answer, behind the first */
    const char *headers[HEADERS];
    const char *sums; /* what advice is made of */
} kinds[] = {
    [PARALLEL_DATA] = {"ClusterDataParallel",
                       "Data Parallel",
                       "computation_time, pure_communication_time, communication_time, interval_of_communication_time",
                       {"Computation Time(us)", "Pure Communication Time(us)", "Communication Time(us)",
                        "Communication Interval(us)"},
                       "sum(pure_communication_time), sum(communication_time), sum(interval_of_communication_time), "
                       "max(hccl_op_num)"},
    [PARALLEL_MODEL] = {"ClusterModelParallel",
                        "Model Parallel",
                        "computation_time, pure_communication_time",
                        {"Computation Time(us)", "Pure Communication Time(us)"},
                        "sum(pure_communication_time), sum(pure_communication_time) + sum(computation_time)"},
    [PARALLEL_PIPELINE] = {"ClusterPipelineParallel",
                           "Pipeline Parallel",
                           "computation_time, pure_communication_time_only_revice, "
                           "pure_communication_time_except_revice, step_time - pure_communication_time",
                           {"Computation Time(us)", "Pure Communication Time(Only Receive Op Included)(us)",
                            "Pure Communication Time(Receive Op Not Included)(us)", "Stage Time(us)"},
                           "sum(pure_communication_time_only_revice), sum(pure_communication_time_except_revice), "
                           "sum(pure_communication_time + computation_time), "
                           "sum(step_time - pure_communication_time)"},
};

/* ---- the database ---- */

struct store {
    sqlite3 *db;
    enum parallel_mode mode;
};

static int fail_with_db(struct asking *q, const struct store *s)
{
    return answer_fail(q, NPUPROF_NO_CLUSTER_DB, "sqlite/" FILE_NAME " cannot be used: %s", sqlite3_errmsg(s->db));
}

static int store_find(struct asking *q, struct store *s)
{
    struct error err = {0};
    char text[ERROR_DEPTH * ERROR_TEXT];
    *s = (struct store){.db = store_open(q->cluster.path, FILE_NAME, &err)};
    if (!s->db && err.n) return answer_fail(q, NPUPROF_NO_CLUSTER_DB, "%s", error_text(&err, text, sizeof text));
    if (!s->db)
        return answer_fail(q, NPUPROF_NO_CLUSTER_DB,
                           "there is no sqlite/" FILE_NAME ": the framework did not say how the job is parallel, or "
                           "nothing of its communication was recorded");
    for (s->mode = PARALLEL_DATA; s->mode <= PARALLEL_PIPELINE; s->mode++)
        if (store_has_table(s->db, kinds[s->mode].table)) return NPUPROF_OK;
    sqlite3_close(s->db);
    s->db = NULL;
    return answer_fail(q, NPUPROF_NO_CLUSTER_DB, "sqlite/" FILE_NAME " has no table of communication");
}

/* A statement of "… %s …", the table; NULL when the database has other columns. */
static sqlite3_stmt *prepare(const struct store *s, const char *before, const char *columns, const char *behind)
{
    sqlite3_stmt *statement = NULL;
    char *sql = mem_printf("SELECT %s%s FROM %s %s", before, columns, kinds[s->mode].table, behind);
    sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);
    free(sql);
    return statement;
}

/* Ids are ranks where any is known, else devices. */
static const char *id_column(const struct store *s)
{
    sqlite3_stmt *ranks = prepare(s, "1", "", "WHERE rank_id IS NOT NULL LIMIT 1");
    const char *column = ranks && sqlite3_step(ranks) == SQLITE_ROW ? "rank_id" : "device_id";
    sqlite3_finalize(ranks);
    return column;
}

/* ---- communication beside computation ---- */

static void put_cell(struct out *o, sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    double value = sqlite3_column_double(row, column);
    if (type == SQLITE_INTEGER) out_i64(o, sqlite3_column_int64(row, column));
    else if (type == SQLITE_FLOAT && isfinite(value)) json_number(o, value);
    else out_literal(o, "null");
}

static void put_row(struct out *o, sqlite3_stmt *row)
{
    out_char(o, '[');
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        if (i) out_literal(o, ", ");
        put_cell(o, row, i);
    }
    out_char(o, ']');
}

static void put_head(struct out *o, const struct kind *k, const char *first)
{
    out_char(o, '{');
    json_key(o, "parallel_mode", true);
    json_text(o, k->shown);
    json_key(o, "headers", false);
    out_char(o, '[');
    json_text(o, first);
    for (int i = 0; i < HEADERS && k->headers[i]; i++) {
        out_literal(o, ", ");
        json_text(o, k->headers[i]);
    }
    out_literal(o, "], ");
    json_key(o, "data", true);
    out_char(o, '[');
}

/* The first row is there already. */
static int write_rows(struct asking *q, const struct store *s, sqlite3_stmt *rows, bool all_ranks)
{
    struct out o;
    char *name = answer_name(q, "cluster_parallel_analysis");
    int status = answer_begin(q, &o, name), step = SQLITE_ROW;
    if (!status) {
        put_head(&o, &kinds[s->mode], all_ranks ? "Rank ID" : "Iteration ID");
        for (bool first = true; step == SQLITE_ROW; step = sqlite3_step(rows), first = false) {
            if (!first) out_literal(&o, ", ");
            put_row(&o, rows);
        }
        out_literal(&o, "]}");
        if (step == SQLITE_DONE) status = answer_end(q, &o, name);
        else out_discard(&o), status = fail_with_db(q, s);
    }
    free(name);
    return status;
}

static int answer_rows(struct asking *q, const struct store *s, bool all_ranks)
{
    const struct npuprof_question *asked = q->question;
    const char *id = id_column(s);
    char *before = mem_printf("%s, ", all_ranks ? id : "iteration_id");
    char *where = mem_printf("WHERE model_id = ? AND %s = ? ORDER BY rowid", all_ranks ? "iteration_id" : id);
    sqlite3_stmt *rows = prepare(s, before, kinds[s->mode].columns, where);
    free(before);
    free(where);
    if (!rows || sqlite3_bind_int64(rows, 1, asked->model_id) ||
        sqlite3_bind_int64(rows, 2, all_ranks ? asked->iteration_id : asked->id)) {
        sqlite3_finalize(rows);
        return fail_with_db(q, s);
    }
    int step = sqlite3_step(rows), status;
    if (step == SQLITE_ROW) status = write_rows(q, s, rows, all_ranks);
    else if (step == SQLITE_DONE) status = answer_fail(q, NPUPROF_OK, "there are no such iterations");
    else status = fail_with_db(q, s);
    sqlite3_finalize(rows);
    return status;
}

int answer_parallel(struct asking *q)
{
    const struct npuprof_question *asked = q->question;
    bool all_ranks = !asked->has_id || asked->id == -1;
    bool all_iterations = !asked->has_iteration_id || asked->iteration_id == -1;
    struct store s;
    if (!asked->has_model_id || asked->model_id < 0)
        return answer_fail(q, NPUPROF_FAILED, "--model-id must be given: 0 or above");
    if (all_ranks == all_iterations)
        return answer_fail(q, NPUPROF_FAILED,
                           "an iteration of all ranks is told (--id -1), or all iterations of a rank (--iteration-id "
                           "-1)");
    int status = store_find(q, &s);
    if (!status) status = answer_rows(q, &s, all_ranks);
    sqlite3_close(s.db);
    return status;
}

/* ---- advice ---- */

/* A mean of what is known. */
struct mean {
    double sum;
    uint64_t n;
};

static void mean_add(struct mean *m, double value)
{
    if (!isfinite(value)) return;
    m->sum += value;
    m->n++;
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : 0;
}

/* Over the devices. */
struct facts {
    struct mean pure;     /* communication while nothing was computed, of all communication; without data parallelism:
                             of this and of computation. Pipelines: without Receive */
    struct mean interval; /* between operators, of this and of communication */
    struct mean receive;  /* pipelines: as pure, Receive alone */
    int64_t operators;    /* of an iteration, at most */
    ARRAY(double) stages; /* pipelines: time of a device without waiting for others */
};

static double sum_at(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN : sqlite3_column_double(row, column);
}

static void take_device(struct facts *f, enum parallel_mode mode, sqlite3_stmt *row)
{
    double a = sum_at(row, 0), b = sum_at(row, 1), c = sum_at(row, 2);
    if (mode == PARALLEL_DATA) {
        int64_t operators = sqlite3_column_int64(row, 3);
        mean_add(&f->pure, a / b);
        mean_add(&f->interval, c / (c + b));
        if (operators > f->operators) f->operators = operators;
    } else if (mode == PARALLEL_MODEL) {
        mean_add(&f->pure, a / b);
    } else {
        mean_add(&f->receive, a / c);
        mean_add(&f->pure, b / c);
        double stage = sum_at(row, 3);
        if (isfinite(stage)) array_push(&f->stages, stage);
    }
}

static int read_facts(struct asking *q, struct facts *f, const struct store *s)
{
    sqlite3_stmt *devices = prepare(s, kinds[s->mode].sums, "", "GROUP BY rank_id, device_id");
    int step = devices ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(devices)) == SQLITE_ROW) take_device(f, s->mode, devices);
    int status = step == SQLITE_DONE ? NPUPROF_OK : fail_with_db(q, s);
    sqlite3_finalize(devices);
    return status;
}

/* Some stage takes a fifth more or less than all of them on average. */
static bool stages_differ(const struct facts *f)
{
    double mean = 0;
    bool differ = false;
    for (size_t i = 0; i < f->stages.n; i++) mean += f->stages.at[i] / (double)f->stages.n;
    for (size_t i = 0; i < f->stages.n; i++) differ |= f->stages.at[i] < mean * 0.8 || f->stages.at[i] > mean * 1.2;
    return differ;
}

/* Does the framework look for the strategy itself? */
static bool is_automatic(const struct store *s)
{
    sqlite3_stmt *type = NULL;
    bool automatic = false;
    if (store_has_table(s->db, STRATEGY_TABLE) &&
        !sqlite3_prepare_v2(s->db, "SELECT parallelType FROM " STRATEGY_TABLE " ORDER BY rowid LIMIT 1", -1, &type,
                            NULL) &&
        sqlite3_step(type) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(type, 0);
        automatic = text && !strcmp(text, "auto_parallel");
    }
    sqlite3_finalize(type);
    return automatic;
}

/* Sentences of one answer. */
typedef ARRAY(char *) sentences;

static void advise_data(sentences *to, const struct facts *f)
{
    double pure = mean_of(&f->pure), interval = mean_of(&f->interval);
    if (!f->pure.n || !f->interval.n) return;
    if (f->operators == 1) {
        array_push(to, mem_printf("All gradients of an iteration are reduced at once, by a single operator at its end. "
                                  "Let the framework reduce them in groups (MindSpore: all_reduce_fusion_config): the "
                                  "first groups are on their way then while the others are still being computed."));
    } else if (pure <= 0.4 && interval <= 0.3) {
        array_push(to, mem_printf("The groups in which gradients are reduced fit well: most of the communication goes "
                                  "on beside computation, without long gaps."));
    } else {
        char alone[120] = "", gaps[120] = "";
        if (pure > 0.4)
            snprintf(alone, sizeof alone, " %.1f%% of the communication time nothing was computed (40%% is fine).",
                     pure * 100);
        if (interval > 0.3)
            snprintf(gaps, sizeof gaps, " Gaps between the reductions take %.1f%% of the time (30%% is fine).",
                     interval * 100);
        array_push(to, mem_printf("The groups in which gradients are reduced could fit better.%s%s Try groups of other "
                                  "sizes (MindSpore: all_reduce_fusion_config).",
                                  alone, gaps));
    }
}

static void advise_model(sentences *to, const struct facts *f, bool automatic)
{
    double pure = mean_of(&f->pure);
    if (!f->pure.n) return;
    if (!(pure > 0.1)) array_push(to, mem_printf("The operators are cut well: they hardly wait for communication."));
    else
        array_push(to,
                   mem_printf("The operators could be cut better: %.1f%% of the time of computation and communication "
                              "is spent on communication alone (10%% is fine). %s",
                              pure * 100,
                              automatic ? "Let the framework use AllToAll and search for a strategy in another way "
                                          "(MindSpore: enable_alltoall, search_mode), or cut the operators by hand."
                                        : "Cut them in another way, and let the framework use AllToAll (MindSpore: "
                                          "enable_alltoall)."));
}

static void advise_pipeline(sentences *to, const struct facts *f)
{
    double pure = mean_of(&f->pure), receive = mean_of(&f->receive);
    bool differ = stages_differ(f);
    if (!f->pure.n || !f->receive.n) return;
    if (pure > 0.1)
        array_push(to,
                   mem_printf("The operators could be cut better: %.1f%% of the time of computation and communication "
                              "is spent on communication alone, receiving from other stages aside (10%% is fine). Cut "
                              "them in another way, and let the framework use AllToAll (MindSpore: enable_alltoall).",
                              pure * 100));
    if (receive > 0.1 || differ) {
        char waiting[160] = "";
        if (receive > 0.1)
            snprintf(waiting, sizeof waiting,
                     " %.1f%% of the time of computation and communication a device only waits to receive from another "
                     "stage (10%% is fine).",
                     receive * 100);
        array_push(to,
                   mem_printf("The stages could be of more even length.%s%s Divide the model, or its batches, in "
                              "another way (MindSpore: pipeline_stages, pipeline_stage, micro_size).",
                              waiting, differ ? " Some stages take over 20% more or less time than the average." : ""));
    }
    if (!to->n) array_push(to, mem_printf("Operators are cut and stages are divided well."));
}

static int write_advice(struct asking *q, const struct kind *k, const sentences *advice)
{
    static const char name[] = "cluster_parallel_suggestion_-1_-1_-1.json";
    struct out o;
    int status = answer_begin(q, &o, name);
    if (status) return status;
    out_char(&o, '{');
    json_key(&o, "parallel_mode", true);
    json_text(&o, k->shown);
    json_key(&o, "suggestion", false);
    out_char(&o, '[');
    for (size_t i = 0; i < advice->n; i++) {
        if (i) out_literal(&o, ", ");
        json_text(&o, advice->at[i]);
    }
    out_literal(&o, "]}");
    return answer_end(q, &o, name);
}

static int advise(struct asking *q, const struct store *s)
{
    struct facts f = {0};
    sentences advice = {0};
    int status = read_facts(q, &f, s);
    if (!status) {
        if (s->mode == PARALLEL_DATA) advise_data(&advice, &f);
        else if (s->mode == PARALLEL_MODEL) advise_model(&advice, &f, is_automatic(s));
        else advise_pipeline(&advice, &f);
        status = write_advice(q, &kinds[s->mode], &advice);
    }
    for (size_t i = 0; i < advice.n; i++) free(advice.at[i]);
    array_free(&advice);
    array_free(&f.stages);
    return status;
}

int answer_parallel_advice(struct asking *q)
{
    const struct npuprof_question *asked = q->question;
    struct store s;
    if ((asked->has_id && asked->id != -1) || (asked->has_model_id && asked->model_id != -1) ||
        (asked->has_iteration_id && asked->iteration_id != -1))
        return answer_fail(q, NPUPROF_FAILED,
                           "advice is about the whole job: --id, --model-id and --iteration-id are -1");
    int status = store_find(q, &s);
    if (!status) status = advise(q, &s);
    sqlite3_close(s.db);
    return status;
}
